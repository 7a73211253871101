//! Takes the due steps of simulations. A step and the schedule of the next one commit together under the lock of the
//! order, so that a crash or a second replica neither skips nor repeats a step.

use chrono::TimeDelta;
use domain::Mode;
use postgres::StoreError;

use super::move_order::MoveError;
use super::simulate_progress::move_simulated;
use crate::domain::Simulation;
use crate::state::State;
use crate::store::{orders, simulations};

const BATCH: i64 = 100;
/// A failed run is postponed this long, so that it does not delay the others.
const POSTPONED: TimeDelta = TimeDelta::minutes(1);

/// Returns whether a step was due.
pub async fn advance_simulations(state: &State) -> Result<bool, StoreError> {
    let now = state.unit.clock.now();
    let due = state.unit.database.read(async |conn| simulations::due(conn, now, BATCH).await).await?;
    for run in &due {
        match advance(state, run).await {
            Ok(()) => {}
            Err(MoveError::Store(error)) if error.is_unavailable() => return Err(error),
            Err(error) => {
                tracing::error!(order_id = %run.order_id, %error, "simulation step failed");
                postpone(state, run).await?;
            }
        }
    }
    Ok(!due.is_empty())
}

/// Takes the due step, unless another replica took it or a new run replaced this one.
async fn advance(state: &State, due: &Simulation) -> Result<(), MoveError> {
    let step = async |conn: &mut _| -> Result<(), MoveError> {
        let order = orders::lock(conn, due.business_id, Mode::Test, due.order_id).await?;
        let order = order.ok_or(MoveError::NotFound)?;
        let run = simulations::of_order(conn, due.business_id, due.order_id).await?;
        let Some(run) = run.filter(|run| run == due) else { return Ok(()) };
        let Some(event) = run.scenario.next(order.state, run.steps_done) else {
            return Ok(simulations::end(conn, &run).await?);
        };
        let order = move_simulated(state, conn, order, event, None).await?;
        match run.after_step(order.state, state.unit.clock.now()) {
            Some(rest) => simulations::schedule(conn, &[rest]).await?,
            None => simulations::end(conn, &run).await?,
        }
        Ok(())
    };
    state.unit.transaction(step).await
}

async fn postpone(state: &State, run: &Simulation) -> Result<(), StoreError> {
    let later = Simulation { next_at: state.unit.clock.now() + POSTPONED, ..*run };
    state.unit.database.transaction(async |conn| simulations::schedule(conn, &[later]).await).await
}
