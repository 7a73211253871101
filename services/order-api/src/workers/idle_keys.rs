//! Removes idle API keys from the rate limits, to bound their memory.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use chassis::Chassis;

use crate::state::State;

const INTERVAL: Duration = Duration::from_secs(60);

pub fn start(chassis: &mut Chassis, state: &Arc<State>) {
    let state = Arc::clone(state);
    chassis.every("idle-keys", INTERVAL, move |_| {
        state.rate_limits.remove_idle_keys();
        std::future::ready(Ok::<(), Infallible>(()))
    });
}
