//! Completes top-ups that a crash or a lost notification left pending.

use std::sync::Arc;
use std::time::Duration;

use chassis::Chassis;

use crate::commands;
use crate::state::State;

const INTERVAL: Duration = Duration::from_secs(2);

pub(crate) fn finish_top_ups(chassis: &mut Chassis, state: &Arc<State>) {
    let state = Arc::clone(state);
    chassis.every("finish_top_ups", INTERVAL, move |_| {
        let state = Arc::clone(&state);
        async move { commands::finish_top_ups::finish_top_ups(&state).await }
    });
}
