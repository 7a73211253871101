//! Writes the buffered usage times to the database.

use std::sync::Arc;
use std::time::Duration;

use chassis::Chassis;

use crate::commands;
use crate::state::State;

const INTERVAL: Duration = Duration::from_secs(3);

/// Also writes once when the service stops.
pub(crate) fn flush_usage(chassis: &mut Chassis, state: &Arc<State>) {
    let state = Arc::clone(state);
    chassis.worker("flush-usage", |stop| async move {
        let rounds = Arc::clone(&state);
        chassis::every(INTERVAL, stop, move |_| {
            let state = Arc::clone(&rounds);
            async move { commands::flush_usage(&state).await }
        })
        .await;
        if let Err(error) = commands::flush_usage(&state).await {
            tracing::warn!(%error, "the last usage times were not written");
        }
    });
}
