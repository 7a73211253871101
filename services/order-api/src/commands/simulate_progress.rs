//! Test orders are driven by hand: the same state machine, real signed webhooks, no driver.

use domain::{BusinessId, EventKind, Mode, OrderId};
use events::{Driver, ProgressData};

use super::move_order::{MoveError, Reported, move_order};
use crate::app::App;
use crate::domain::Order;
use crate::store::orders;

/// The test order after `event`.
pub async fn simulate_progress(
    app: &App,
    business: BusinessId,
    id: OrderId,
    event: EventKind,
) -> Result<Order, MoveError> {
    let order = app
        .database
        .transaction(async |conn| -> Result<Order, MoveError> {
            let order = orders::lock(conn, business, Mode::Test, id).await?.ok_or(MoveError::NotFound)?;
            let reported =
                Reported { event, data: made_up(event, &order), occurred_at: app.ambient.clock.now() };
            move_order(&app.ambient, conn, order, reported).await
        })
        .await?;
    app.doorbell.ring();
    Ok(order)
}

/// What a fleet would have said. The driver lives in the event only.
fn made_up(event: EventKind, order: &Order) -> ProgressData {
    let mut data = ProgressData::default();
    match event {
        EventKind::DriverAssigned => {
            data.driver = Some(Driver {
                name: "Test Driver".into(),
                phone: Some("+919000000000".into()),
                vehicle: Some("TEST 0000".into()),
            });
        }
        EventKind::OrderFailed | EventKind::OrderCancelled | EventKind::OrderReturned => {
            data.reason = Some("Simulated".into());
        }
        EventKind::CodCollected | EventKind::CodHandedOver | EventKind::CodSettled => {
            data.cod_amount_paise = Some(order.cod_amount);
        }
        _ => {}
    }
    data
}
