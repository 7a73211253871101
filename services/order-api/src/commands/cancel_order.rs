//! The business calls an order off, before its pickup.

use domain::{BusinessId, DeliveryStatus, EventKind, Mode, OrderId};
use events::ProgressData;

use super::move_order::{MoveError, Reported, move_order};
use crate::app::App;
use crate::domain::Order;
use crate::store::orders;

/// The cancelled order. A repeated call changes nothing and answers the same. A live order's fee comes back by the
/// event.
pub async fn cancel_order(
    app: &App,
    business: BusinessId,
    mode: Mode,
    id: OrderId,
    reason: Option<String>,
) -> Result<Order, MoveError> {
    let order = app
        .database
        .transaction(async |conn| -> Result<Order, MoveError> {
            let order = orders::lock(conn, business, mode, id).await?.ok_or(MoveError::NotFound)?;
            if order.state.status == DeliveryStatus::Cancelled {
                return Ok(order);
            }
            let reported = Reported {
                event: EventKind::OrderCancelled,
                data: ProgressData { reason: reason.clone(), ..ProgressData::default() },
                occurred_at: app.ambient.clock.now(),
            };
            move_order(&app.ambient, conn, order, reported).await
        })
        .await?;
    app.notifier.notify();
    Ok(order)
}
