//! Keeps the log for its retention period. One instance does so at a time.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::commands::apply_retention;
use crate::state::State;

const INTERVAL: Duration = Duration::from_secs(3_600);
/// After a failure, or while another instance works.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// Not a fixed interval: an interrupted run is repeated soon.
pub(crate) async fn retain(state: Arc<State>, stop: CancellationToken) {
    let mut pause = Duration::ZERO;
    while tokio::time::timeout(pause, stop.cancelled()).await.is_err() {
        pause = match apply_retention(&state, &stop).await {
            Ok(true) => INTERVAL,
            Ok(false) => RETRY_INTERVAL,
            Err(error) => {
                tracing::warn!(%error, "applying the retention period failed; it is retried");
                RETRY_INTERVAL
            }
        };
    }
}
