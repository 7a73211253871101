//! Changes the delivery state of an order. All commands that do so use this function, so that the new state, the
//! timeline and the outbox change together.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{EventId, EventKind, IllegalMove, Mode, Paise};
use events::{AttemptBegun, Body, Envelope};
use postgres::StoreError;
use telemetry::TraceContext;

use crate::domain::{Decided, Order, attempt_to_pay};
use crate::order_events::{OrderChange, Progress};
use crate::state::State;
use crate::store::orders;

/// Why an order did not change.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error("the order does not exist")]
    NotFound,
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Applies `progress` to an order. The caller holds the lock of its row.
pub(super) async fn move_order(
    state: &State,
    conn: &mut AsyncPgConnection,
    mut order: Order,
    mut progress: Progress,
) -> Result<Order, MoveError> {
    if order.personal_data_erased_at.is_some() {
        progress.data = progress.data.without_personal_data();
    }
    let to_pay = attempt_to_pay(&order, progress.event);
    let state_after = order.state.apply(progress.event, state.attempts.max)?;
    order.updated_at = later_than(order.updated_at, state.unit.clock.now());
    order.state = state_after;
    order.sequence += 1;
    copy_data(&mut order, &progress);
    if let Some(to_pay) = to_pay {
        order.paid = order.paid.and(to_pay);
    }
    order.updated_at = orders::save(conn, &order).await?;
    let trace = TraceContext::current();
    let change = OrderChange { order: order.summary(), progress, trace };
    state.order_events.record(conn, vec![change]).await?;
    if let Some(to_pay) = to_pay {
        announce_attempt(state, conn, &order, to_pay).await?;
    }
    Ok(order)
}

/// The wallet takes the fee of the attempt that began.
async fn announce_attempt(
    state: &State,
    conn: &AsyncPgConnection,
    order: &Order,
    (attempt, fee_paise): (u32, Paise),
) -> Result<(), StoreError> {
    let (unit, now) = (&state.unit, state.unit.clock.now());
    let order_reference = order.order_reference.clone();
    let begun = AttemptBegun { order_id: order.id, order_reference, attempt, fee_paise };
    let envelope = Envelope {
        id: EventId::generate(&unit.clock, &unit.entropy),
        business_id: order.business_id,
        occurred_at: now,
        body: Body::AttemptBegun(begun),
    };
    unit.outbox.enqueue(conn, &[envelope], now).await
}

/// The timeline is sorted by time, so the times of an order's changes increase with its sequence, even when the clock
/// of another replica is ahead.
pub(super) fn later_than(last: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    now.max(last + TimeDelta::microseconds(1))
}

/// Copies data of the event to the order. A simulated driver stays in the event: a test order never has a driver.
fn copy_data(order: &mut Order, progress: &Progress) {
    match progress.event {
        EventKind::DriverAssigned if order.mode == Mode::Live => {
            order.driver = progress.data.driver.as_ref().and_then(|driver| serde_json::to_value(driver).ok());
        }
        EventKind::DriverUnassigned => {
            order.driver = None;
            // The attempt that was asked for had begun: its fee is taken.
            order.decided = order.decided.map(|decided| Decided { fee: Paise::ZERO, ..decided });
        }
        // A return without words has those of the failure, and always its code.
        EventKind::OrderReturned if progress.data.reason.is_some() => {
            order.reason.clone_from(&progress.data.reason);
        }
        EventKind::OrderFailed | EventKind::OrderCancelled => {
            order.reason.clone_from(&progress.data.reason);
            order.reason_code.clone_from(&progress.data.reason_code);
        }
        // The reason of a former attempt.
        EventKind::OrderDelivered => (order.reason, order.reason_code) = (None, None),
        _ => {}
    }
    if progress.event == EventKind::OrderFailed {
        order.decided = None;
    }
    order.cash.record(progress.event, progress.data.cod_amount_paise);
}
