//! A business asks for another attempt at a failed delivery, or for its parcel. The fleet sees it in its list of orders.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, EventKind, Mode, OrderId, RequestedBy};
use events::{ProgressData, ScheduledAttempt};
use postgres::StoreError;
use telemetry::TraceContext;

use super::move_order::later_than;
use crate::domain::{Decided, Decision, Order, Refusal, SeenDecision};
use crate::order_events::{OrderChange, Progress};
use crate::state::State;
use crate::store::orders;

/// A request is no event of an order that has so many: a business may change its mind as often as it likes, and the tracking page
/// reads 100.
const EVENTS_MAX: i64 = 60;

/// Why nothing was decided.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    #[error("the order does not exist")]
    NotFound,
    #[error("the order does not allow it")]
    Refused(Decision, Refusal),
    #[error("the present decision is not the one that the caller saw")]
    Changed(Option<Decided>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Records a decision, with who made it, a note for the driver and the fee of that moment, and returns the order. The same
/// decision again changes nothing, and another one replaces it, unless the caller has `seen` another one than the present.
pub async fn decide_after_failure(
    state: &State,
    (business, mode, id): (BusinessId, Mode, OrderId),
    (decision, by): (Decision, RequestedBy),
    note: Option<String>,
    seen: Option<SeenDecision>,
) -> Result<Order, DecideError> {
    let decide = async |conn: &mut _| -> Result<Order, DecideError> {
        let mut order = orders::lock(conn, business, mode, id).await?.ok_or(DecideError::NotFound)?;
        let is_known = order.decided.is_some_and(|decided| decided.decision == decision);
        if is_known && order.reattempt_note() == note.as_deref() {
            return Ok(order);
        }
        if let Some(refusal) = decision.refusal(&order, state.attempts.max) {
            return Err(DecideError::Refused(decision, refusal));
        }
        if seen.is_some_and(|seen| seen.is_outdated(order.decided)) {
            return Err(DecideError::Changed(order.decided));
        }
        let now = state.unit.clock.now();
        let fee = decision.fee(&order, state.attempts);
        order.decided = Some(Decided { decision, at: now, fee, by: Some(by) });
        order.set_reattempt_note(note.clone());
        order.updated_at = later_than(order.updated_at, now);
        let stored = order.sequence;
        let is_announced = state.announces_requests && stored < EVENTS_MAX;
        order.sequence += i64::from(is_announced);
        order.updated_at = orders::save_request(conn, &order, stored).await?;
        if is_announced {
            announce(state, conn, &order, decision, now).await?;
        }
        Ok(order)
    };
    state.unit.transaction(decide).await
}

/// Records the decision as an event of the order, which has the next sequence already.
async fn announce(
    state: &State,
    conn: &mut AsyncPgConnection,
    order: &Order,
    decision: Decision,
    occurred_at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let (event, data) = event_of(order, decision);
    let progress = Progress { event, data, occurred_at };
    let change = OrderChange { order: order.summary(), progress, trace: TraceContext::current() };
    state.order_events.record(conn, vec![change]).await
}

/// Without the note: it may contain personal data.
fn event_of(order: &Order, decision: Decision) -> (EventKind, ProgressData) {
    let requested_by = order.decided.and_then(|decided| decided.by).map(|by| by.to_string());
    let data = ProgressData { requested_by, ..ProgressData::default() };
    match decision {
        Decision::Reattempt { on } => {
            let fee_paise = order.decided.map(|decided| decided.fee).unwrap_or_default();
            let reattempt = Some(ScheduledAttempt { number: order.next_attempt(), on, fee_paise });
            (EventKind::OrderReattemptScheduled, ProgressData { reattempt, ..data })
        }
        Decision::Return => {
            let reason_code = order.reason_code.clone();
            (EventKind::OrderReturning, ProgressData { reason_code, ..data })
        }
    }
}
