//! Calls to the service under test.

use std::time::Duration;

use internal_api::{CallError, Peer, PeerOptions, Refusal};
use settings::Secret;
use url::Url;

/// A client of the service's internal listener, with a timeout for a busy machine.
pub fn peer(service: &'static str, internal: &Url, token: &Secret) -> Peer {
    let options = PeerOptions { deadline: Duration::from_secs(20), ..PeerOptions::default() };
    Peer::new(service, internal.clone(), None, token, options).expect("a client")
}

/// The refusal of a call. Panics when the call succeeds.
#[track_caller]
pub fn refusal<T>(outcome: Result<T, CallError>) -> Refusal {
    match outcome {
        Err(CallError::Refused { refusal, .. }) => *refusal,
        Err(CallError::Unavailable { reason, .. }) => panic!("no answer: {reason}"),
        Ok(_) => panic!("not refused"),
    }
}

/// The status and the code of a refusal.
#[track_caller]
pub fn refused<T>(outcome: Result<T, CallError>) -> (u16, String) {
    let refusal = refusal(outcome);
    (refusal.status, refusal.code)
}

/// The fields that the `errors[]` of a refusal name.
#[track_caller]
pub fn invalid_fields(refusal: &Refusal) -> Vec<&str> {
    let errors = refusal.rest["errors"].as_array().expect("errors");
    errors.iter().map(|error| error["field"].as_str().expect("a field")).collect()
}
