//! Orders of all businesses, for callers that belong to none: the fleet, customers with a tracking code, and the wallet.

use domain::{OrderId, TrackingCode};
use postgres::StoreError;

use crate::domain::{ChangePosition, FleetFilter, FoundOrders, Order, OrderEvent, OrderFinancials};
use crate::page_slots::Reader;
use crate::state::State;
use crate::store::{financials, fleet, orders, timeline};

/// Live orders for the fleet by their last change, oldest first.
pub async fn for_fleet(state: &State, filter: &FleetFilter, limit: usize) -> Result<FoundOrders, StoreError> {
    let _slot = state.page_slots.enter(Reader::Fleet).await?;
    state.unit.database.read(async |conn| fleet::list(conn, filter, limit).await).await
}

/// The current position of an order in the fleet's list.
pub async fn fleet_position(state: &State, id: OrderId) -> Result<Option<ChangePosition>, StoreError> {
    state.unit.database.read(async |conn| fleet::position(conn, id).await).await
}

/// The order and its first `events_max` events: the code grants access.
pub async fn tracked(
    state: &State,
    code: &TrackingCode,
    events_max: usize,
) -> Result<Option<(Order, Vec<OrderEvent>)>, StoreError> {
    let read = async |conn: &mut _| -> Result<_, StoreError> {
        let Some(order) = orders::by_tracking_code(conn, code).await? else { return Ok(None) };
        let events = timeline::list(conn, order.business_id, order.id, None, events_max).await?;
        Ok(Some((order, events)))
    };
    state.unit.database.read(read).await
}

/// The amounts of placed live orders after a position, by their last change.
pub async fn financials_changed(
    state: &State,
    after: ChangePosition,
    limit: usize,
) -> Result<Vec<OrderFinancials>, StoreError> {
    state.unit.database.read(async |conn| financials::changed(conn, after, limit).await).await
}

/// The amounts of the existing orders among these.
pub async fn financials_of(state: &State, ids: &[OrderId]) -> Result<Vec<OrderFinancials>, StoreError> {
    state.unit.database.read(async |conn| financials::of(conn, ids).await).await
}
