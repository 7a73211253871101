//! The deliveries of an order's events for its timeline, and those of given events.

use domain::{BusinessId, EventId, OrderId, WebhookDeliveryId};
use postgres::StoreError;

use super::one_more_than;
use crate::domain::{OrderDelivery, TimelineCursor};
use crate::state::State;
use crate::store;

/// One more than `limit`, after the cursor. An unknown order has none.
pub(crate) async fn deliveries_of_order(
    state: &State,
    business: BusinessId,
    order: OrderId,
    after: Option<TimelineCursor>,
    limit: usize,
) -> Result<Vec<OrderDelivery>, StoreError> {
    let _slot = state.page_slot(business).await?;
    let limit = one_more_than(limit);
    let list = async |conn: &mut _| store::deliveries_of_order(conn, business, order, after, limit).await;
    state.unit.database.read(list).await
}

/// More than the endpoints of a business for a full page of events.
const OF_EVENTS_MAX: i64 = 2_000;

/// Omits events of other businesses.
pub(crate) async fn deliveries_of_events(
    state: &State,
    business: BusinessId,
    ids: &[EventId],
) -> Result<Vec<OrderDelivery>, StoreError> {
    let _slot = state.page_slot(business).await?;
    let list = async |conn: &mut _| store::deliveries_of_events(conn, business, ids, OF_EVENTS_MAX).await;
    state.unit.database.read(list).await
}

pub(crate) async fn delivery_of_order(
    state: &State,
    business: BusinessId,
    order: OrderId,
    id: WebhookDeliveryId,
) -> Result<Option<OrderDelivery>, StoreError> {
    state.unit.database.read(async |conn| store::delivery_of_order(conn, business, order, id).await).await
}
