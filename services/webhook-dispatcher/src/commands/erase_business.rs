//! Deletes the endpoints of a closed business, with its log and its events.

use domain::BusinessId;
use postgres::StoreError;

use crate::state::State;
use crate::store;

/// Rows of a table per call.
const BATCH_MAX: u16 = 500;

/// Returns whether nothing is left. Deletes nothing of a business with an endpoint: it is not closed.
///
/// # Errors
/// When the database is unreachable.
pub(crate) async fn erase_business(state: &State, business: BusinessId) -> Result<bool, StoreError> {
    state
        .unit
        .database
        .transaction(async |conn| {
            // No endpoint is created meanwhile.
            store::lock_business(conn, business).await?;
            if store::count_endpoints(conn, business).await? > 0 {
                return Ok(false);
            }
            store::delete_closed(conn, business, BATCH_MAX).await
        })
        .await
}
