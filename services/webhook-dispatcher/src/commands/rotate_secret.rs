//! Rotates an endpoint's signing secret. The new secret is shown only in the result. Both secrets sign until the owner
//! activates the new one or the grace period ends, so receivers can switch at any time in between (SPECIFICATION §5.7).

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, EndpointId};
use postgres::StoreError;
use webhook_signature::Secret;

use super::CreatedEndpoint;
use crate::domain::{EncryptedSecrets, StagedSecret};
use crate::secrets::DecryptError;
use crate::state::State;
use crate::store;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rotation {
    pub business: BusinessId,
    pub endpoint: EndpointId,
    /// Zero replaces the current secret, and a staged one, at once.
    pub grace: TimeDelta,
    /// Whether the new secret may replace a staged one.
    pub replace_staged: bool,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum RotateError {
    #[error("the business has no such endpoint")]
    NotFound,
    #[error("another secret is staged until {until}")]
    UnderWay { until: DateTime<Utc> },
    #[error(transparent)]
    Secret(#[from] DecryptError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Refuses a second rotation during a first one unless `replace_staged` is set: a receiver may already use the staged
/// secret, and a repeated click would lock it out. `replace_staged` is for owners who lost the response with the
/// secret. Without a grace period everything is replaced, as is needed after a leak.
///
/// # Errors
/// When there is no such endpoint, or a rotation is in progress.
pub(crate) async fn rotate_secret(state: &State, rotation: Rotation) -> Result<CreatedEndpoint, RotateError> {
    let (business, id, now) = (rotation.business, rotation.endpoint, state.unit.clock.now());
    let secret = Secret::generate(state.unit.entropy.bytes());
    let encrypted = state.secrets.encrypt(id, &secret, &state.unit.entropy)?;
    let immediately = rotation.grace <= TimeDelta::zero();
    let endpoint = state
        .unit
        .database
        .transaction(async |conn| {
            let stored = store::lock_secrets(conn, business, id).await?.ok_or(RotateError::NotFound)?;
            let EncryptedSecrets { current, next } = stored.at(now);
            if let Some(staged) = next
                && !(immediately || rotation.replace_staged)
            {
                return Err(RotateError::UnderWay { until: staged.from });
            }
            let secrets = if immediately {
                EncryptedSecrets::without_staged(encrypted.clone())
            } else {
                let next = StagedSecret { secret: encrypted.clone(), from: now + rotation.grace };
                EncryptedSecrets { current, next: Some(next) }
            };
            store::write_secrets(conn, business, id, &secrets).await?;
            store::find_endpoint(conn, business, id).await?.ok_or(RotateError::NotFound)
        })
        .await?;
    tracing::info!(business_id = %business, endpoint_id = %id, immediately, "signing secret rotated");
    Ok(CreatedEndpoint { endpoint, secret })
}
