//! Advances simulated deliveries of test orders.

use std::sync::Arc;
use std::time::Duration;

use chassis::Chassis;
use postgres::StoreError;
use tokio::sync::Mutex;

use crate::commands::advance_simulations::advance_simulations;
use crate::state::State;

const INTERVAL: Duration = Duration::from_millis(250);
/// After three seconds without a due step, only every sixth round looks for one: the first step of a run may be one
/// and a half seconds late.
const QUIET: u64 = 12;
const ROUNDS_PER_LOOK: u64 = 6;

pub fn start(chassis: &mut Chassis, state: &Arc<State>) {
    let (state, rounds_without_step) = (Arc::clone(state), Arc::new(Mutex::new(QUIET)));
    chassis.every("simulations", INTERVAL, move |_| {
        let (state, rounds_without_step) = (Arc::clone(&state), Arc::clone(&rounds_without_step));
        async move {
            let mut rounds = rounds_without_step.lock().await;
            *rounds += 1;
            if *rounds > QUIET && !rounds.is_multiple_of(ROUNDS_PER_LOOK) {
                return Ok(());
            }
            if advance_simulations(&state).await? {
                *rounds = 0;
            }
            Ok::<_, StoreError>(())
        }
    });
}
