//! Tells an owner whether what his receiver has fits, and if not, why.
//!
//! The answer holds a good signature of whatever he gives. That is no more than he can make himself, for he has the
//! secret; but it is for him alone: the call is behind his session, names his business in every query, and is of no use
//! to who merely sees a receiver. The secret itself is never answered, nor any part of it.

use domain::{BusinessId, EndpointId, EventId};
use postgres::StoreError;
use serde_json::Value;

use crate::app::App;
use crate::domain::{Evidence, Findings, check_signature};
use crate::secrets::Unreadable;
use crate::store;

/// `evt_` and 26 characters.
const EVENT_ID_LENGTH: usize = 30;

#[derive(Debug, thiserror::Error)]
pub(crate) enum VerifyError {
    #[error("the business has no such endpoint")]
    NotFound,
    #[error(transparent)]
    Secret(#[from] Unreadable),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// # Errors
/// When there is no such endpoint, or its secret does not open.
pub(crate) async fn verify_signature(
    app: &App,
    business: BusinessId,
    endpoint: EndpointId,
    mut evidence: Evidence,
) -> Result<Findings, VerifyError> {
    let event = event_of(&evidence);
    let (target, sent) = app
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
    let (_, sealed) = target.ok_or(VerifyError::NotFound)?;
    let now = app.clock.now();
    let secrets = app.secrets.open_all(endpoint, &sealed, now)?;
    evidence.sent = sent;
    if let Some(event) = event.filter(|_| evidence.id.is_empty()) {
        evidence.id = event.to_string();
    }
    Ok(check_signature(&secrets, &evidence, now.timestamp()))
}

/// Which event it is, as the header or the body says.
fn event_of(evidence: &Evidence) -> Option<EventId> {
    let by_body = || {
        let body: Value = serde_json::from_slice(&evidence.body).ok()?;
        body["id"].as_str()?.parse().ok()
    };
    // What is cut off is no JSON any more, and begins with the id all the same.
    let by_text = || {
        let text = String::from_utf8_lossy(&evidence.body);
        let from = text.find("evt_")?;
        text.get(from..from + EVENT_ID_LENGTH)?.parse().ok()
    };
    evidence.id.parse().ok().or_else(by_body).or_else(by_text)
}
