//! Checks a signature that an owner's receiver got, and explains a mismatch.
//!
//! The result contains neither the secret nor a signature: it would serve to forge a webhook.

use domain::{BusinessId, EndpointId, EventId};
use postgres::StoreError;
use serde_json::Value;

use crate::domain::{Evidence, Findings, check_signature};
use crate::secrets::DecryptError;
use crate::state::State;
use crate::store;

/// `evt_` and 26 characters.
const EVENT_ID_LENGTH: usize = 30;

#[derive(Debug, thiserror::Error)]
pub(crate) enum VerifyError {
    #[error("the business has no such endpoint")]
    NotFound,
    #[error(transparent)]
    Secret(#[from] DecryptError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// # Errors
/// When there is no such endpoint, or its secret cannot be decrypted.
pub(crate) async fn verify_signature(
    state: &State,
    business: BusinessId,
    endpoint: EndpointId,
    mut evidence: Evidence,
) -> Result<Findings, VerifyError> {
    let event = event_of(&evidence);
    let (target, sent) = state
        .unit
        .database
        .read(async |conn| {
            let target = store::find_target(conn, business, endpoint).await?;
            let sent = match event {
                Some(event) => store::body_of(conn, business, event).await?,
                None => None,
            };
            Ok::<_, StoreError>((target, sent))
        })
        .await?;
    let (_, encrypted) = target.ok_or(VerifyError::NotFound)?;
    let now = state.unit.clock.now();
    let secrets = state.secrets.signing_secrets(endpoint, &encrypted, now)?;
    evidence.sent = sent;
    if let Some(event) = event.filter(|_| evidence.id.is_empty()) {
        evidence.id = event.to_string();
    }
    Ok(check_signature(&secrets, &evidence, now.timestamp()))
}

/// The event that the header or the body names.
fn event_of(evidence: &Evidence) -> Option<EventId> {
    let by_body = || {
        let body: Value = serde_json::from_slice(&evidence.body).ok()?;
        body["id"].as_str()?.parse().ok()
    };
    // A truncated body is not JSON but still begins with the id.
    let by_text = || {
        let text = String::from_utf8_lossy(&evidence.body);
        let from = text.find("evt_")?;
        text.get(from..from + EVENT_ID_LENGTH)?.parse().ok()
    };
    evidence.id.parse().ok().or_else(by_body).or_else(by_text)
}
