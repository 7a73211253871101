//! Drives test orders that move by themselves, one step at a time. A step and the schedule of the next one commit
//! together, under the order's lock: a crash or a second replica neither skips a step nor takes one twice.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use domain::Mode;
use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use super::move_order::{MoveError, Reported, move_order};
use super::simulate_progress::made_up;
use crate::app::App;
use crate::domain::Simulation;
use crate::store::{orders, simulations};

const INTERVAL: Duration = Duration::from_millis(250);
const BATCH: i64 = 100;
/// A run whose step fails for another reason than a missing database makes way for the others this long.
const SET_ASIDE: TimeDelta = TimeDelta::minutes(1);

/// Looks for steps that are due until the service stops.
pub async fn run_simulations(app: Arc<App>, stop: CancellationToken) {
    let mut failing = false;
    while stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await.is_some() {
        match round(&app).await {
            Ok(()) => failing = false,
            Err(error) if !failing => {
                tracing::warn!(%error, "simulated orders cannot be moved on yet");
                failing = true;
            }
            Err(_) => {}
        }
    }
}

async fn round(app: &App) -> Result<(), StoreError> {
    let now = app.ambient.clock.now();
    let due = app.database.read(async |conn| simulations::due(conn, now, BATCH).await).await?;
    for run in due {
        match step(app, &run).await {
            Ok(()) => {}
            Err(MoveError::Store(error)) if error.is_unavailable() => return Err(error),
            Err(error) => {
                tracing::error!(order_id = %run.order_id, %error, "a step of a simulation failed");
                set_aside(app, &run).await?;
            }
        }
    }
    Ok(())
}

/// Takes the step that is due, unless another replica took it or the run has been replaced.
async fn step(app: &App, seen: &Simulation) -> Result<(), MoveError> {
    let moved = app
        .database
        .transaction(async |conn| -> Result<bool, MoveError> {
            let order = orders::lock(conn, seen.business_id, Mode::Test, seen.order_id).await?;
            let order = order.ok_or(MoveError::NotFound)?;
            let run = simulations::of_order(conn, seen.business_id, seen.order_id).await?;
            let Some(run) = run.filter(|run| run == seen) else { return Ok(false) };
            let Some(event) = run.scenario.next(order.state, run.steps_done) else {
                simulations::end(conn, &run).await?;
                return Ok(false);
            };
            let now = app.ambient.clock.now();
            let reported = Reported { event, data: made_up(event, &order), occurred_at: now };
            let order = move_order(&app.ambient, conn, order, reported).await?;
            match run.after_step(order.state, now) {
                Some(left) => simulations::schedule(conn, &[left]).await?,
                None => simulations::end(conn, &run).await?,
            }
            Ok(true)
        })
        .await?;
    if moved {
        app.notifier.notify();
    }
    Ok(())
}

async fn set_aside(app: &App, run: &Simulation) -> Result<(), StoreError> {
    let later = Simulation { next_at: app.ambient.clock.now() + SET_ASIDE, ..*run };
    let mut conn = app.database.connection().await?;
    simulations::schedule(&mut conn, &[later]).await
}
