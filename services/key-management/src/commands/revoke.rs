//! Revokes a key permanently.

use domain::{ApiKeyId, BusinessId};
use postgres::StoreError;

use super::announce_revoked;
use crate::domain::Key;
use crate::state::State;
use crate::store;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RevokeError {
    #[error("the business has no such key")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the revoked key. A repeated call changes and announces nothing.
///
/// # Errors
/// When the business has no such key.
pub(crate) async fn revoke(state: &State, business: BusinessId, id: ApiKeyId) -> Result<Key, RevokeError> {
    let unit = &state.unit;
    let (key, is_new) = unit
        .transaction(async |conn| {
            let key = store::find_for_update(conn, business, id).await?.ok_or(RevokeError::NotFound)?;
            if key.revoked_at.is_some() {
                return Ok((key, false));
            }
            let now = unit.clock.now();
            // The key may have expired a moment ago, before `expire_keys` ran.
            let at = key.expires_at.map_or(now, |end| end.min(now));
            store::set_revoked(conn, business, id, at).await?;
            let key = Key { revoked_at: Some(at), ..key };
            announce_revoked(conn, unit, std::slice::from_ref(&key), now).await?;
            Ok::<_, RevokeError>((key, true))
        })
        .await?;
    if is_new {
        tracing::info!(business_id = %business, key_id = %id, "key revoked");
    }
    Ok(key)
}
