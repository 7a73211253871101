//! A new signing secret, and the one chance to see it. The present one goes on signing beside it, until the owner activates
//! the new one or the grace ends, so that no webhook meets a receiver that knows neither (`design.md` §5).

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, EndpointId};
use postgres::StoreError;
use webhook_signature::Secret;

use super::CreatedEndpoint;
use crate::app::App;
use crate::secrets::{SealedSecrets, Staged, Unreadable};
use crate::store;

/// What an owner asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rotation {
    pub business: BusinessId,
    pub endpoint: EndpointId,
    /// None of it: the present secret ends at once, and so does one that was staged.
    pub grace: TimeDelta,
    /// Whether the new secret may take the place of one that is staged already.
    pub replace_staged: bool,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum RotateError {
    #[error("the business has no such endpoint")]
    NotFound,
    #[error("another secret is staged until {until}")]
    UnderWay { until: DateTime<Utc> },
    #[error(transparent)]
    Secret(#[from] Unreadable),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for RotateError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// A second rotation is refused while one is under way, unless its owner says that he means it: the staged secret may
/// stand in a receiver already, which a repeated click, or a script that runs twice, would lock out. Where every secret
/// signs from the start, as at Stripe and Svix, that cannot happen. He will mean it when the answer that showed the secret
/// was lost. With no grace everything is replaced, since that is what one does about a secret that has leaked.
///
/// # Errors
/// When there is no such endpoint, or a rotation is under way.
pub(crate) async fn rotate_secret(app: &App, rotation: Rotation) -> Result<CreatedEndpoint, RotateError> {
    let (business, id, now) = (rotation.business, rotation.endpoint, app.clock.now());
    let secret = Secret::generate(app.entropy.bytes());
    let sealed = app.secrets.seal(id, &secret, &app.entropy)?;
    let at_once = rotation.grace <= TimeDelta::zero();
    let endpoint = app
        .database
        .transaction(async |conn| {
            let stored = store::lock_secrets(conn, business, id).await?.ok_or(RotateError::NotFound)?;
            let SealedSecrets { present, next } = stored.at(now);
            if let Some(staged) = next
                && !(at_once || rotation.replace_staged)
            {
                return Err(RotateError::UnderWay { until: staged.from });
            }
            let secrets = if at_once {
                SealedSecrets::only(sealed.clone())
            } else {
                let next = Staged { secret: sealed.clone(), from: now + rotation.grace };
                SealedSecrets { present, next: Some(next) }
            };
            store::write_secrets(conn, business, id, &secrets).await?;
            store::find_endpoint(conn, business, id).await?.ok_or(RotateError::NotFound)
        })
        .await?;
    tracing::info!(business_id = %business, endpoint_id = %id, at_once, "a signing secret was rotated");
    Ok(CreatedEndpoint { endpoint, secret })
}
