//! The orders of a business.

use domain::{BusinessId, Mode, OrderId};
use postgres::StoreError;

use crate::domain::{AcceptedOrder, FoundOrders, ListStart, Order, OrderFilter};
use crate::page_slots::Reader;
use crate::state::State;
use crate::store::orders;

/// An order, in `mode` if given.
pub async fn find(
    state: &State,
    business: BusinessId,
    mode: Option<Mode>,
    id: OrderId,
) -> Result<Option<Order>, StoreError> {
    state.unit.database.read(async |conn| orders::find(conn, business, mode, id).await).await
}

pub async fn list(
    state: &State,
    business: BusinessId,
    filter: &OrderFilter,
    start: ListStart,
    limit: usize,
) -> Result<FoundOrders, StoreError> {
    let _slot = state.page_slots.enter(Reader::Business(business)).await?;
    state.unit.database.read(async |conn| orders::list(conn, business, filter, start, limit).await).await
}

/// The orders with exactly this id, tracking code or reference.
pub async fn search(state: &State, business: BusinessId, text: &str) -> Result<Vec<OrderId>, StoreError> {
    state.unit.database.read(async |conn| orders::search(conn, business, text).await).await
}

/// An order with the stored part of the request that created it.
pub async fn accepted(
    state: &State,
    business: BusinessId,
    id: OrderId,
) -> Result<Option<AcceptedOrder>, StoreError> {
    state.unit.database.read(async |conn| orders::accepted(conn, business, id).await).await
}

/// The references of these orders, without orders of other businesses.
pub async fn references(
    state: &State,
    business: BusinessId,
    ids: &[OrderId],
) -> Result<Vec<(OrderId, String)>, StoreError> {
    state.unit.database.read(async |conn| orders::references(conn, business, ids).await).await
}

/// Whether the business has placed a test order.
pub async fn any_test_order(state: &State, business: BusinessId) -> Result<bool, StoreError> {
    state.unit.database.read(async |conn| orders::any_test_order(conn, business).await).await
}
