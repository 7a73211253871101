//! An order by its tracking code.

use domain::TrackingCode;
use postgres::StoreError;

use crate::domain::{Order, OrderEvent};
use crate::state::State;
use crate::store::{orders, timeline};

/// The order of any business and its first `events_max` events: the code grants access.
pub async fn tracked_order(
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
