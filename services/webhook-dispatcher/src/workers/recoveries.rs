//! Advances running recoveries, one batch at a time. Any instance may take the next batch of any recovery.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::commands::{RecoveryStep, advance_recovery};
use crate::state::State;

/// While no recovery is due: how late one may begin.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);
/// While the endpoint of the due recovery has enough pending deliveries.
const BUSY_INTERVAL: Duration = Duration::from_millis(200);

/// Not a fixed interval: batches follow each other without a pause while there is work.
pub(crate) async fn recover(state: Arc<State>, stop: CancellationToken) {
    let mut pause = IDLE_INTERVAL;
    while tokio::time::timeout(pause, stop.cancelled()).await.is_err() {
        pause = match advance_recovery(&state, BUSY_INTERVAL).await {
            Ok(RecoveryStep::Advanced) => Duration::ZERO,
            Ok(RecoveryStep::NothingDue) => IDLE_INTERVAL,
            Ok(RecoveryStep::EndpointBusy) => BUSY_INTERVAL,
            Err(error) => {
                tracing::warn!(%error, "advancing recoveries failed; it is retried");
                IDLE_INTERVAL
            }
        };
    }
}
