//! Simulates the delivery of a test order, one event at a time or automatically (see [`super::advance_simulations`]):
//! the same state machine and real signed webhooks, without a driver.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{
    BusinessId, DeliveryState, EventKind, EvidencePlace, FailureReason, Mode, OrderId, RecipientRelation,
};
use events::{Driver, ProgressData};
use postgres::StoreError;

use super::move_order::{MoveError, move_order};
use super::record_attempt::{Reported, record_attempt};
use crate::domain::{Decided, Decision, Evidence, Order, Scenario, Simulation};
use crate::order_events::Progress;
use crate::state::State;
use crate::store::{evidence, orders, simulations};

/// A test order and its active run.
pub struct Simulated {
    pub order: Order,
    pub run: Option<Simulation>,
}

/// Why a simulation did not start, or a step failed.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    #[error("no event leads from this state to a delivery")]
    NothingLeft(DeliveryState, Vec<EventKind>),
    #[error(transparent)]
    Move(#[from] MoveError),
}

impl From<StoreError> for SimulateError {
    fn from(error: StoreError) -> Self {
        Self::Move(error.into())
    }
}

/// Applies `event` to a test order. An active run continues from the new state.
pub async fn simulate_progress(
    state: &State,
    business: BusinessId,
    id: OrderId,
    event: EventKind,
    reason_code: Option<FailureReason>,
) -> Result<Simulated, SimulateError> {
    let simulate = async |conn: &mut _| -> Result<Simulated, SimulateError> {
        let order = orders::lock(conn, business, Mode::Test, id).await?.ok_or(MoveError::NotFound)?;
        let order = move_simulated(state, conn, order, event, reason_code).await?;
        let run = match simulations::of_order(conn, business, id).await? {
            Some(run) if run.scenario.next(order.state, run.steps_done).is_none() => {
                simulations::end(conn, &run).await?;
                None
            }
            run => run,
        };
        Ok(Simulated { order, run })
    };
    state.unit.transaction(simulate).await
}

/// Starts a run to `delivered` and, for cash on delivery, to `settled`. Replaces an active run. A requested attempt begins
/// at once.
pub async fn start_simulation(
    state: &State,
    business: BusinessId,
    id: OrderId,
) -> Result<Simulated, SimulateError> {
    let start = async |conn: &mut _| -> Result<Simulated, SimulateError> {
        let mut order = orders::lock(conn, business, Mode::Test, id).await?.ok_or(MoveError::NotFound)?;
        if has_requested_attempt(&order) && order.state.can_be_reattempted(state.attempts.max) {
            order = move_simulated(state, conn, order, EventKind::DriverAssigned, None).await?;
        }
        let run = Simulation::new(id, business, Scenario::Delivered, state.unit.clock.now());
        if run.scenario.next(order.state, run.steps_done).is_none() {
            let legal = order.state.legal(state.attempts.max);
            return Err(SimulateError::NothingLeft(order.state, legal));
        }
        simulations::schedule(conn, &[run]).await?;
        Ok(Simulated { order, run: Some(run) })
    };
    state.unit.transaction(start).await
}

fn has_requested_attempt(order: &Order) -> bool {
    matches!(order.decided, Some(Decided { decision: Decision::Reattempt { .. }, .. }))
}

/// Applies the report of a fictitious fleet.
pub(super) async fn move_simulated(
    state: &State,
    conn: &mut AsyncPgConnection,
    order: Order,
    event: EventKind,
    reason_code: Option<FailureReason>,
) -> Result<Order, MoveError> {
    let mut progress = simulated_progress(state, event, &order);
    progress.data.reason_code = reason_code.map(|code| code.to_string());
    let mut reported = Reported { report_id: "simulation".into(), evidence: None, code_verified: None };
    if event == EventKind::OrderDelivered {
        reported.evidence = Some(simulated_evidence(progress.occurred_at));
        // The fictitious driver has the code, if there is one.
        reported.code_verified = evidence::code(conn, order.business_id, order.id).await?.map(|_| true);
    }
    record_attempt(state, conn, &order, &mut progress, reported).await?;
    move_order(state, conn, order, progress).await
}

fn simulated_evidence(captured_at: DateTime<Utc>) -> Evidence {
    Evidence {
        captured_at: Some(captured_at),
        place: Some(EvidencePlace { latitude: 12.971_6, longitude: 77.594_6 }),
        recipient_name: Some("Test Recipient".into()),
        recipient_relation: Some(RecipientRelation::Customer.to_string()),
        photo: None,
    }
}

fn simulated_progress(state: &State, event: EventKind, order: &Order) -> Progress {
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
        kind if kind.is_cash() => {
            data.cod_amount_paise = Some(order.cod_amount);
        }
        _ => {}
    }
    Progress { event, data, occurred_at: state.unit.clock.now() }
}
