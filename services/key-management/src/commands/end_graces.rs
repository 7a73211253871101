//! Rotated keys whose grace has ended are revoked and announced. Verification does not wait for this: it refuses a key from
//! the very moment its grace ends, and verdicts carry that moment to whoever keeps them.

use postgres::StoreError;

use super::announce_revoked;
use crate::app::App;
use crate::store;

/// At most this many in one transaction.
const BATCH_MAX: i64 = 100;

/// # Errors
/// When the database is away; what is left is found the next time.
pub(crate) async fn end_graces(app: &App) -> Result<(), StoreError> {
    loop {
        let ended = app
            .database
            .transaction(async |conn| {
                let now = app.clock.now();
                let ended = store::take_ended_graces(conn, now, BATCH_MAX).await?;
                announce_revoked(conn, app, &ended, now).await?;
                Ok::<_, StoreError>(ended)
            })
            .await?;
        for key in &ended {
            tracing::info!(business_id = %key.business_id, key_id = %key.id, "a rotated key's grace has ended");
        }
        if ended.is_empty() {
            return Ok(());
        }
        app.notifier.notify();
    }
}
