//! Erases the names of a closed business's keys, and the networks that they were restricted to. Ids and hashes stay.

use domain::BusinessId;
use postgres::StoreError;

use crate::state::State;
use crate::store;

/// A key has a name.
const NAME: &str = "Erased key";
/// Keys per call.
const BATCH_MAX: u16 = 500;

/// Returns whether nothing is left. Erases nothing of a business with a key that is not revoked: it is not closed.
///
/// # Errors
/// When the database is unavailable.
pub(crate) async fn erase_business(state: &State, business: BusinessId) -> Result<bool, StoreError> {
    state
        .unit
        .transaction(async |conn| {
            // No key is created meanwhile.
            store::lock_business(conn, business).await?;
            if store::has_unrevoked(conn, business).await? {
                return Ok(false);
            }
            let erased = store::erase_names(conn, business, NAME, BATCH_MAX).await?;
            Ok::<_, StoreError>(erased < usize::from(BATCH_MAX))
        })
        .await
}
