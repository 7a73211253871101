//! A business cancels an order before its pickup.

use domain::{BusinessId, DeliveryStatus, EventKind, Mode, OrderId, RequestedBy};
use events::ProgressData;

use super::move_order::{MoveError, move_order};
use crate::domain::Order;
use crate::order_events::Progress;
use crate::state::State;
use crate::store::orders;

/// Cancels an order and returns it. A repeated call changes nothing. The event makes the wallet refund a live order.
pub async fn cancel_order(
    state: &State,
    business: BusinessId,
    mode: Mode,
    id: OrderId,
    reason: Option<String>,
    by: RequestedBy,
) -> Result<Order, MoveError> {
    let cancel = async |conn: &mut _| -> Result<Order, MoveError> {
        let order = orders::lock(conn, business, mode, id).await?.ok_or(MoveError::NotFound)?;
        if order.state.status == DeliveryStatus::Cancelled {
            return Ok(order);
        }
        let progress = Progress {
            event: EventKind::OrderCancelled,
            data: ProgressData { reason, requested_by: Some(by.to_string()), ..ProgressData::default() },
            occurred_at: state.unit.clock.now(),
        };
        move_order(state, conn, order, progress).await
    };
    state.unit.transaction(cancel).await
}
