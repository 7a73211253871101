//! Writes the files of exports until it is stopped.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::exports::commands::write_export::{publish_counters, write_next};
use crate::state::State;

/// Between two looks at the queue without a wake-up. Retries and exports of other instances have none.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Two at once, so that a long file does not delay all others.
pub(crate) async fn write_exports(state: Arc<State>, stop: CancellationToken) {
    publish_counters();
    tokio::join!(write_one_by_one(&state, &stop), write_one_by_one(&state, &stop));
}

async fn write_one_by_one(state: &State, stop: &CancellationToken) {
    while !stop.is_cancelled() {
        match write_next(state, stop).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "writing exports failed: cannot read or write the queue"),
        }
        tokio::select! {
            () = state.export_waiting.notified() => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = stop.cancelled() => {}
        }
    }
}
