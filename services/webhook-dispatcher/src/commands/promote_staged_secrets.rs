//! Completes rotations: staged secrets whose time has come become the current ones.

use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::state::State;
use crate::store;

/// Endpoints per statement.
const BATCH_MAX: i64 = 500;

/// # Errors
/// When the database is unreachable.
pub(crate) async fn promote_staged_secrets(
    state: &State,
    stop: &CancellationToken,
) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let now = state.unit.clock.now();
        let promote =
            state.unit.database.read(async |conn| store::promote_staged_secrets(conn, now, BATCH_MAX).await);
        let promoted = promote.await?;
        if promoted == 0 {
            break;
        }
        tracing::info!(promoted, "staged secrets promoted");
    }
    Ok(())
}
