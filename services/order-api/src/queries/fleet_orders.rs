//! Live orders for the fleet.

use domain::OrderId;
use postgres::StoreError;

use crate::domain::{ChangePosition, FleetFilter, FoundOrders};
use crate::page_slots::Reader;
use crate::state::State;
use crate::store::fleet;

/// Live orders by their last change, oldest first.
pub async fn list(state: &State, filter: &FleetFilter, limit: usize) -> Result<FoundOrders, StoreError> {
    let _slot = state.page_slots.enter(Reader::Fleet).await?;
    state.unit.database.read(async |conn| fleet::list(conn, filter, limit).await).await
}

/// The current position of an order in the list.
pub async fn position(state: &State, id: OrderId) -> Result<Option<ChangePosition>, StoreError> {
    state.unit.database.read(async |conn| fleet::position(conn, id).await).await
}
