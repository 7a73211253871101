//! Goes on with jobs that send again what endpoints missed, a portion at a time. Any instance may take the next portion of
//! any job.

use std::time::Duration;

use diesel_async::AsyncPgConnection;
use internal_api::webhooks::RecoveryState;
use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::domain::Recovery;
use crate::store;

/// While no job is due.
const EVERY: Duration = Duration::from_secs(1);
/// In one transaction.
const PORTION_MAX: i64 = 250;
/// Events looked through in one transaction, wanted or not.
const EVENTS_MAX: i64 = 5_000;
/// While so many deliveries of an endpoint are pending, no more are sent again: what is new goes in between.
const PENDING_MAX: i64 = 500;
/// Until a job whose endpoint has its fill is looked at again.
const FULL_PAUSE: Duration = Duration::from_millis(200);

enum Step {
    NothingDue,
    Full,
    LookedThrough,
    Sent(usize),
    Ended(Recovery, RecoveryState),
}

pub(crate) async fn recover(app: App, stop: CancellationToken) {
    let mut pause = EVERY;
    while tokio::time::timeout(pause, stop.cancelled()).await.is_err() {
        pause = Duration::ZERO;
        match step(&app).await {
            Ok(Step::Sent(count)) => {
                metrics::counter!("webhook_recovered_total")
                    .increment(u64::try_from(count).unwrap_or(u64::MAX));
                app.bell.notify_one();
            }
            Ok(Step::Ended(job, state)) => {
                tracing::info!(
                    business_id = %job.business_id, endpoint_id = %job.endpoint_id, recovery_id = %job.id,
                    total = job.total, done = job.done, %state, "a recovery has ended"
                );
            }
            Ok(Step::LookedThrough) => {}
            Ok(Step::NothingDue) => pause = EVERY,
            Ok(Step::Full) => pause = FULL_PAUSE,
            Err(error) => {
                tracing::warn!(%error, "recoveries do not go on at this moment");
                pause = EVERY;
            }
        }
    }
}

async fn step(app: &App) -> Result<Step, StoreError> {
    let now = app.clock.now();
    let work = async |conn: &mut AsyncPgConnection| {
        let Some(due) = store::lock_due_recovery(conn, now, PENDING_MAX).await? else {
            return Ok(Step::NothingDue);
        };
        let (business, id) = (due.recovery.business_id, due.recovery.id);
        // What comes later in an order must not be sent before what is still to be added.
        if !due.endpoint_deleted && store::add_unsubscribed_portion(conn, &due, EVENTS_MAX, now).await? {
            return Ok(Step::LookedThrough);
        }
        store::count_portion(conn, &due).await?;
        let end = if due.endpoint_deleted {
            RecoveryState::Cancelled
        } else if due.room <= 0 {
            store::put_off_recovery(conn, &due.recovery, now + FULL_PAUSE).await?;
            return Ok(Step::Full);
        } else {
            match store::recover_portion(conn, &due, PORTION_MAX, now).await? {
                Some(sent) => return Ok(Step::Sent(sent)),
                None => RecoveryState::Completed,
            }
        };
        store::end_recovery(conn, business, id, end, now).await?;
        Ok::<_, StoreError>(Step::Ended(due.recovery, end))
    };
    app.database.transaction(work).await
}
