//! Revokes and announces keys that have expired, such as rotated keys at the end of their grace period. Verification does not
//! depend on this: it rejects a key from the moment it expires, and caches know that moment.

use postgres::StoreError;

use super::announce_revoked;
use crate::state::State;
use crate::store;

/// Keys per transaction.
const BATCH_MAX: i64 = 100;

/// # Errors
/// When the database is unavailable. The next round finds the remaining keys.
pub(crate) async fn expire_keys(state: &State) -> Result<(), StoreError> {
    while expire_batch(state).await? > 0 {}
    Ok(())
}

async fn expire_batch(state: &State) -> Result<usize, StoreError> {
    let unit = &state.unit;
    let expired = unit
        .transaction(async |conn| {
            let now = unit.clock.now();
            let expired = store::revoke_expired(conn, now, BATCH_MAX).await?;
            announce_revoked(conn, unit, &expired, now).await?;
            Ok::<_, StoreError>(expired)
        })
        .await?;
    for key in &expired {
        tracing::info!(business_id = %key.business_id, key_id = %key.id, "key expired");
    }
    Ok(expired.len())
}
