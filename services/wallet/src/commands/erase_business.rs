//! Erases what the staff wrote about differences of cash of a closed business. The ledger stays.

use domain::BusinessId;
use postgres::StoreError;

use crate::state::State;
use crate::store;

/// A difference is closed by its text.
const CLOSED: &str = "Erased";
/// Differences per call.
const BATCH_MAX: u16 = 500;

/// Returns whether nothing is left.
///
/// # Errors
/// When the database fails.
pub(crate) async fn erase_business(state: &State, business: BusinessId) -> Result<bool, StoreError> {
    state
        .unit
        .transaction(async |conn| {
            let erased = store::cash_differences::erase(conn, business, CLOSED, BATCH_MAX).await?;
            Ok::<_, StoreError>(erased < usize::from(BATCH_MAX))
        })
        .await
}
