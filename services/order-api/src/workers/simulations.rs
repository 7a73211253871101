//! Advances simulated deliveries of test orders.

use std::sync::Arc;
use std::time::Duration;

use chassis::Chassis;

use crate::commands::advance_simulations::advance_simulations;
use crate::state::State;

const INTERVAL: Duration = Duration::from_millis(250);

pub fn start(chassis: &mut Chassis, state: &Arc<State>) {
    let state = Arc::clone(state);
    chassis.every("simulations", INTERVAL, move |_| {
        let state = Arc::clone(&state);
        async move { advance_simulations(&state).await }
    });
}
