//! Revokes a key permanently, and the keys that it replaced.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{ApiKeyId, BusinessId};
use postgres::StoreError;

use super::announce_revoked;
use crate::domain::{Grace, Key};
use crate::state::State;
use crate::store;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RevokeError {
    #[error("the business has no such key")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a call has revoked.
pub(crate) struct Revoked {
    pub key: Key,
    /// The predecessors that were revoked with the key or later.
    pub predecessors: Vec<Key>,
}

/// Revokes the key and, unless `keep_predecessor`, its predecessors that still work in their grace period. Returns the
/// same if it is repeated, and then changes and announces nothing.
///
/// # Errors
/// When the business has no such key.
pub(crate) async fn revoke(
    state: &State,
    business: BusinessId,
    id: ApiKeyId,
    keep_predecessor: bool,
) -> Result<Revoked, RevokeError> {
    let unit = &state.unit;
    let (revoked, new) = unit
        .transaction(async |conn| {
            let key = store::find_for_update(conn, business, id).await?.ok_or(RevokeError::NotFound)?;
            let now = unit.clock.now();
            let mut keys = match keep_predecessor {
                true => Vec::new(),
                false => predecessors(conn, &key, now).await?,
            };
            keys.insert(0, key);
            let mut new = Vec::new();
            for key in keys.iter_mut().filter(|key| key.revoked_at.is_none()) {
                // The key may have expired a moment ago, before `expire_keys` ran.
                let at = key.expires_at.map_or(now, |end| end.min(now));
                store::set_revoked(conn, business, key.id, at).await?;
                key.revoked_at = Some(at);
                new.push(key.clone());
            }
            announce_revoked(conn, unit, &new, now).await?;
            let key = keys.remove(0);
            keys.retain(|predecessor| {
                !predecessor.expired_by(now) && predecessor.revoked_at >= key.revoked_at
            });
            Ok::<_, RevokeError>((Revoked { key, predecessors: keys }, new))
        })
        .await?;
    for key in &new {
        tracing::info!(business_id = %business, key_id = %key.id, "key revoked");
    }
    Ok(revoked)
}

/// The replaced keys that may still be in their grace period, newest first. Locks these keys.
async fn predecessors(
    conn: &mut AsyncPgConnection,
    key: &Key,
    now: DateTime<Utc>,
) -> Result<Vec<Key>, StoreError> {
    let mut found: Vec<Key> = Vec::new();
    loop {
        let successor = found.last().unwrap_or(key);
        let Some(id) = successor.rotated_from.filter(|_| now - successor.created_at < Grace::MAX) else {
            return Ok(found);
        };
        match store::find_for_update(conn, key.business_id, id).await? {
            Some(predecessor) => found.push(predecessor),
            None => return Ok(found),
        }
    }
}
