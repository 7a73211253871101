//! Metrics of reconciliation. All instances publish the stored results, whichever instance ran.

use chrono::{DateTime, Utc};
use metrics::{counter, gauge};
use postgres::{Database, StoreError};
use strum::VariantArray;

use super::feed::Feed;
use crate::domain::Check;
use crate::store::reconciliation::progress;

const COMPLETED: &str = "completed";
const FAILED: &str = "failed";

/// Publishes all counters as 0: alerts on increases miss the first event of an absent series.
pub(crate) fn publish_counters() {
    for outcome in [COMPLETED, FAILED] {
        counter!("wallet_reconciliation_runs_total", "outcome" => outcome).increment(0);
    }
}

pub(super) fn count_run(is_completed: bool) {
    let outcome = if is_completed { COMPLETED } else { FAILED };
    counter!("wallet_reconciliation_runs_total", "outcome" => outcome).increment(1);
}

pub(super) fn count_rows(feed: Feed, rows: i64) {
    let rows = u64::try_from(rows).unwrap_or_default();
    counter!("wallet_reconciliation_rows_total", "feed" => feed.name()).increment(rows);
}

pub(super) async fn publish_gauges(database: &Database) -> Result<(), StoreError> {
    let (run, counts, cursors) = database
        .read(async |conn| {
            let run = progress::last_run(conn).await?;
            let counts = progress::count_findings(conn).await?;
            Ok::<_, StoreError>((run, counts, progress::cursors(conn).await?))
        })
        .await?;
    for check in Check::VARIANTS {
        let count = counts.get(check).copied().unwrap_or_default();
        gauge!("wallet_reconciliation_findings", "check" => check.as_str()).set(precise(count));
    }
    // 0 before the first completed run.
    let timestamp = |time: Option<DateTime<Utc>>| precise(time.map_or(0, |time| time.timestamp()));
    gauge!("wallet_reconciliation_completed_timestamp_seconds").set(timestamp(run.completed_at));
    gauge!("wallet_reconciliation_last_run_rows").set(precise(run.rows_checked.unwrap_or_default()));
    gauge!("wallet_reconciliation_in_flight").set(precise(run.under_way));
    let seconds = precise(run.duration_ms.unwrap_or_default()) / 1_000.0;
    gauge!("wallet_reconciliation_last_run_duration_seconds").set(seconds);
    for feed in Feed::VARIANTS.iter().filter(|feed| feed.has_sweep()) {
        let swept = cursors.get(feed.name()).and_then(|cursors| cursors.swept_at);
        gauge!("wallet_reconciliation_sweep_completed_timestamp_seconds", "feed" => feed.name())
            .set(timestamp(swept));
    }
    Ok(())
}

/// A count or a time as the value of a gauge; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts, and seconds since 1970, are far below 2^53")]
fn precise(number: i64) -> f64 {
    number as f64
}
