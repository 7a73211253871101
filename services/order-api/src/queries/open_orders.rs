//! What keeps a business from being closed.

use domain::BusinessId;
use postgres::StoreError;

use crate::domain::OpenOrders;
use crate::state::State;
use crate::store::support;

/// Each kind is counted up to `max`.
pub async fn count(state: &State, business: BusinessId, max: i64) -> Result<OpenOrders, StoreError> {
    state.unit.database.read(async |conn| support::open_orders(conn, business, max).await).await
}
