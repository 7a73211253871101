//! Advances one running recovery by one batch.

use std::time::Duration;

use diesel_async::AsyncPgConnection;
use postgres::StoreError;

use crate::domain::{Recovery, RecoveryState};
use crate::state::State;
use crate::store;

/// Deliveries per transaction.
const BATCH_MAX: i64 = 250;
/// Events scanned per transaction, whether or not the endpoint wants them.
const SCAN_MAX: i64 = 5_000;
/// A recovery pauses while its endpoint has this many pending deliveries, so that new ones are not delayed.
const PENDING_MAX: i64 = 500;

pub(crate) enum RecoveryStep {
    Advanced,
    NothingDue,
    /// The endpoint has enough pending deliveries.
    EndpointBusy,
}

/// What the transaction did.
enum Work {
    NothingDue,
    EndpointBusy,
    Scanned,
    Sent(usize),
    Ended(Recovery, RecoveryState),
}

/// A recovery of a busy endpoint is due again after `busy_pause`.
///
/// # Errors
/// When the database is unreachable.
pub(crate) async fn advance_recovery(
    state: &State,
    busy_pause: Duration,
) -> Result<RecoveryStep, StoreError> {
    match advance(state, busy_pause).await? {
        Work::NothingDue => return Ok(RecoveryStep::NothingDue),
        Work::EndpointBusy => return Ok(RecoveryStep::EndpointBusy),
        Work::Scanned => {}
        Work::Sent(count) => {
            metrics::counter!("webhook_recovered_total").increment(u64::try_from(count).unwrap_or(u64::MAX));
            state.sender.wake();
        }
        Work::Ended(recovery, end) => tracing::info!(
            business_id = %recovery.business_id, endpoint_id = %recovery.endpoint_id, recovery_id = %recovery.id,
            total = recovery.total, done = recovery.done, state = %end, "recovery ended"
        ),
    }
    Ok(RecoveryStep::Advanced)
}

async fn advance(state: &State, busy_pause: Duration) -> Result<Work, StoreError> {
    let work = async |conn: &mut AsyncPgConnection| {
        let now = store::now(conn).await?;
        let Some(due) = store::lock_due_recovery(conn, now, PENDING_MAX).await? else {
            return Ok(Work::NothingDue);
        };
        let (business, id) = (due.recovery.business_id, due.recovery.id);
        // All missed events must be known before the first is sent: an order's events keep their sequence.
        if !due.endpoint_deleted && store::add_newly_subscribed(conn, &due, SCAN_MAX, now).await? {
            return Ok(Work::Scanned);
        }
        store::count_batch(conn, &due).await?;
        let end = if due.endpoint_deleted {
            RecoveryState::Cancelled
        } else if due.room <= 0 {
            store::postpone_recovery(conn, &due.recovery, now + busy_pause).await?;
            return Ok(Work::EndpointBusy);
        } else {
            match store::recover_batch(conn, &due, BATCH_MAX, now).await? {
                Some(sent) => return Ok(Work::Sent(sent)),
                None => RecoveryState::Completed,
            }
        };
        store::end_recovery(conn, business, id, end, now).await?;
        Ok::<_, StoreError>(Work::Ended(due.recovery, end))
    };
    state.unit.database.transaction(work).await
}
