//! A key stops working, for good.

use domain::{ApiKeyId, BusinessId};
use postgres::StoreError;

use super::announce_revoked;
use crate::app::App;
use crate::domain::Key;
use crate::store;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RevokeError {
    #[error("the business has no such key")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for RevokeError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Gives the key as it is then. Repeated, it changes and announces nothing.
///
/// # Errors
/// When the business has no such key.
pub(crate) async fn revoke(app: &App, business: BusinessId, id: ApiKeyId) -> Result<Key, RevokeError> {
    let (key, is_news) = app
        .database
        .transaction(async |conn| {
            let key = store::find_for_update(conn, business, id).await?.ok_or(RevokeError::NotFound)?;
            if key.revoked_at.is_some() {
                return Ok((key, false));
            }
            let now = app.clock.now();
            // A grace may have ended a moment ago, which nobody has noted yet.
            let at = key.expires_at.map_or(now, |end| end.min(now));
            store::set_revoked(conn, business, id, at).await?;
            let key = Key { revoked_at: Some(at), ..key };
            announce_revoked(conn, app, std::slice::from_ref(&key), now).await?;
            Ok::<_, RevokeError>((key, true))
        })
        .await?;
    if is_news {
        app.notifier.notify();
        tracing::info!(business_id = %business, key_id = %id, "a key is revoked");
    }
    Ok(key)
}
