//! Test orders are driven by hand, step by step, or by themselves to the end (see [`super::run_simulations`]): the same
//! state machine, real signed webhooks, no driver.

use domain::{BusinessId, DeliveryState, EventKind, Mode, OrderId};
use events::{Driver, ProgressData};
use postgres::StoreError;

use super::move_order::{MoveError, Reported, move_order};
use crate::app::App;
use crate::domain::{Order, Scenario, Simulation};
use crate::store::{orders, simulations};

/// A test order and the run that moves it on, if one does.
pub struct Simulated {
    pub order: Order,
    pub run: Option<Simulation>,
}

/// Why a simulation did not begin, or a step was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    #[error("nothing leads from here to a delivery")]
    NothingLeft(DeliveryState),
    #[error(transparent)]
    Move(#[from] MoveError),
}

impl From<StoreError> for SimulateError {
    fn from(error: StoreError) -> Self {
        Self::Move(MoveError::Store(error))
    }
}

impl From<diesel::result::Error> for SimulateError {
    fn from(error: diesel::result::Error) -> Self {
        StoreError::from(error).into()
    }
}

/// The test order after `event`. A run that is under way goes on from there.
pub async fn simulate_progress(
    app: &App,
    business: BusinessId,
    id: OrderId,
    event: EventKind,
) -> Result<Simulated, SimulateError> {
    let simulated = app
        .database
        .transaction(async |conn| -> Result<Simulated, SimulateError> {
            let order = orders::lock(conn, business, Mode::Test, id).await?.ok_or(MoveError::NotFound)?;
            let now = app.ambient.clock.now();
            let reported = Reported { event, data: made_up(event, &order), occurred_at: now };
            let order = move_order(&app.ambient, conn, order, reported).await?;
            let run = match simulations::of_order(conn, business, id).await? {
                Some(run) if run.scenario.next(order.state, run.steps_done).is_none() => {
                    simulations::end(conn, &run).await?;
                    None
                }
                run => run,
            };
            Ok(Simulated { order, run })
        })
        .await?;
    app.notifier.notify();
    Ok(simulated)
}

/// Lets the test order go its way to delivered and, for cash on delivery, settled. Asked again, it begins anew from
/// where the order is.
pub async fn start_simulation(
    app: &App,
    business: BusinessId,
    id: OrderId,
) -> Result<Simulated, SimulateError> {
    app.database
        .transaction(async |conn| -> Result<Simulated, SimulateError> {
            let order = orders::lock(conn, business, Mode::Test, id).await?.ok_or(MoveError::NotFound)?;
            let run = Simulation::new(id, business, Scenario::Delivered, app.ambient.clock.now());
            if run.scenario.next(order.state, run.steps_done).is_none() {
                return Err(SimulateError::NothingLeft(order.state));
            }
            simulations::schedule(conn, &[run]).await?;
            Ok(Simulated { order, run: Some(run) })
        })
        .await
}

/// What a fleet would have said. The driver lives in the event only.
pub(super) fn made_up(event: EventKind, order: &Order) -> ProgressData {
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
