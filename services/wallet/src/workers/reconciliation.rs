//! Reconciles the ledger with the orders.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::reconcile::{Reconciler, RunError, Schedule};

/// How often an instance checks whether a run is due, and publishes the results of the last one: ten times per run.
pub(crate) fn check_interval(between_runs: Duration) -> Duration {
    (between_runs / 10).clamp(Duration::from_secs(2), Duration::from_secs(10))
}

pub(crate) async fn reconcile(
    reconciler: Arc<Reconciler>,
    schedule: Arc<Schedule>,
    stop: CancellationToken,
) -> Result<(), RunError> {
    // A run takes minutes and may end anywhere: the next one continues at the stored cursors.
    stop.run_until_cancelled(reconciler.run_if_due(&schedule)).await.unwrap_or(Ok(()))
}
