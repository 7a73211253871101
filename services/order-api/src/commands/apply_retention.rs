//! Erases orders that have not changed during the retention period.

use chrono::TimeDelta;
use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use super::erase_business::PAUSE;
use super::erase_personal_data::{Cause, Erased, count, erase_unchanged};
use crate::state::State;
use crate::store::personal_data;

pub async fn apply_retention(
    state: &State,
    retention: TimeDelta,
    stop: &CancellationToken,
) -> Result<(), StoreError> {
    // Reported before the work too, so that a failing erasure is visible.
    report_overdue(state, retention).await?;
    let mut total = 0;
    while !stop.is_cancelled() {
        let before = state.unit.clock.now() - retention;
        let batch = erase_unchanged(&state.unit, before).await?;
        let Some(Erased { erased: erased @ 1.., .. }) = batch else { break };
        count(Cause::Retention, erased);
        total += erased;
        tokio::time::sleep(PAUSE).await;
    }
    if total > 0 {
        tracing::info!(erased = total, "erased the personal data of old orders");
    }
    report_overdue(state, retention).await
}

async fn report_overdue(state: &State, retention: TimeDelta) -> Result<(), StoreError> {
    let oldest = state.unit.database.read(async |conn| personal_data::oldest_change(conn).await).await?;
    let overdue = oldest.map(|changed_at| state.unit.clock.now() - retention - changed_at);
    let overdue = overdue.and_then(|overdue| overdue.to_std().ok()).unwrap_or_default();
    metrics::gauge!("personal_data_erasure_overdue_seconds").set(overdue.as_secs_f64());
    Ok(())
}

/// Publishes 0 up front: alerts ignore absent series.
pub fn publish_zeros() {
    metrics::gauge!("personal_data_erasure_overdue_seconds").set(0.0);
}
