//! Removing what nobody asks for any more: sessions long ended, attempts that no longer count, links that have
//! expired, mails that nobody needs any more, the old end of the audit log.

use std::time::Duration;

use chrono::TimeDelta;
use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::store::{attempts, audit_log, invitations, mails, operator_sessions, password_resets, sessions};

const EVERY: Duration = Duration::from_secs(60);
const BATCH_MAX: i64 = 1_000;
const BATCHES_MAX: usize = 50;
/// Ended sessions are kept for a while, so that it can be seen who was logged in when.
const SESSIONS_KEPT: TimeDelta = TimeDelta::days(30);
/// Whoever sends mails counts those that expired first; here go those of an operator who sends none any more.
const MAILS_KEPT: TimeDelta = TimeDelta::days(1);
const AUDIT_KEPT: TimeDelta = TimeDelta::days(400);

/// A worker: prunes now and then until it is stopped.
pub(crate) async fn keep_pruning(app: App, stop: CancellationToken) {
    let mut ticks = tokio::time::interval(EVERY);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        if let Err(error) = prune(&app).await {
            tracing::warn!(%error, "old rows stay until the next round");
        }
    }
}

/// One round: batch after batch while there are full ones, within bounds.
async fn prune(app: &App) -> Result<(), StoreError> {
    let now = app.clock.now();
    for _ in 0..BATCHES_MAX {
        let pruned: Result<[usize; 7], StoreError> = app
            .database
            .read(async |conn| {
                Ok([
                    sessions::prune(conn, now - SESSIONS_KEPT, BATCH_MAX).await?,
                    attempts::prune(conn, now, BATCH_MAX).await?,
                    invitations::prune(conn, now, BATCH_MAX).await?,
                    password_resets::prune(conn, now, BATCH_MAX).await?,
                    mails::prune(conn, now - MAILS_KEPT, BATCH_MAX).await?,
                    operator_sessions::prune(conn, now, BATCH_MAX).await?,
                    audit_log::prune(conn, now - AUDIT_KEPT, BATCH_MAX).await?,
                ])
            })
            .await;
        let pruned = pruned?;
        tracing::debug!(?pruned, "old rows removed");
        if pruned.iter().all(|rows| *rows < usize::try_from(BATCH_MAX).unwrap_or(usize::MAX)) {
            break;
        }
    }
    Ok(())
}
