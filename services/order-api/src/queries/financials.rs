//! The amounts of orders, for the reconciliation with the wallet.

use domain::OrderId;
use postgres::StoreError;

use crate::domain::{ChangePosition, OrderFinancials};
use crate::state::State;
use crate::store::financials;

/// Placed live orders after a position, by their last change.
pub async fn changed(
    state: &State,
    after: ChangePosition,
    limit: usize,
) -> Result<Vec<OrderFinancials>, StoreError> {
    state.unit.database.read(async |conn| financials::changed(conn, after, limit).await).await
}

/// The existing orders among these.
pub async fn of(state: &State, ids: &[OrderId]) -> Result<Vec<OrderFinancials>, StoreError> {
    state.unit.database.read(async |conn| financials::of(conn, ids).await).await
}
