//! Decides when a run is due, and which instance executes it.

use std::time::Instant;

use chrono::TimeDelta;

use super::metrics;
use super::report::RunReport;
use super::run::{LEASE, Run, RunError, Schedule};
use super::scanner::Scanner;
use crate::store::reconciliation::progress;

/// The pause after an incomplete run. Most often order-api was unreachable for a moment.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(15);

pub(super) async fn run_if_due(scanner: &Scanner, schedule: &Schedule) -> Result<(), RunError> {
    let outcome = claim_and_run(scanner, schedule).await;
    if let Ok(Some(())) | Err(_) = &outcome {
        metrics::count_run(outcome.is_ok());
    }
    metrics::publish_gauges(&scanner.database).await?;
    outcome.map(|_| ())
}

/// `None` when no run is due, or another instance has claimed it.
async fn claim_and_run(scanner: &Scanner, schedule: &Schedule) -> Result<Option<()>, RunError> {
    let (database, holder, began) = (&scanner.database, &schedule.instance, scanner.clock.now());
    let is_claimed =
        database.read(async |conn| progress::claim_run(conn, holder, began, began + LEASE).await).await?;
    if !is_claimed {
        return Ok(None);
    }
    let cursors = database.read(async |conn| progress::cursors(conn).await).await?;
    let started = Instant::now();
    let report = RunReport::default();
    let mut run = Run { scanner, schedule, began, started, renewed: started, cursors, report };
    let outcome = run.execute().await;
    let next_at = match outcome {
        Ok(()) => Some(began + schedule.interval),
        // The instance that took over decides about the next run.
        Err(RunError::Lost) => None,
        Err(_) => Some(scanner.clock.now() + RETRY_AFTER.min(schedule.interval)),
    };
    if let Some(next_at) = next_at {
        database.read(async |conn| progress::renew_lease(conn, holder, next_at).await).await?;
    }
    outcome.map(Some)
}
