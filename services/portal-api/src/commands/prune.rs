//! Deletes rows that are no longer needed: ended sessions, old attempts, expired challenges, links, mails and exports, and old
//! entries of the audit logs. Also erases closed businesses whose time has come.

use chrono::{DateTime, TimeDelta};
use identity::passkeys::passkey_ceremonies;
use identity::second_factors::log_in_challenges;
use identity::single_sign_on::sso_log_ins;
use identity::{attempts, password_links, sessions};
use postgres::StoreError;

use crate::approvals::store::approvals;
use crate::business::commands::erase_closed::erase_closed;
use crate::exports::store::exports;
use crate::state::State;
use crate::store::{audit_log, email_confirmations, mails, operator_audit_log};
use crate::team::store::invitations;

const BATCH_MAX: i64 = 1_000;
const BATCHES_MAX: usize = 50;
const EXPORTS_MAX: usize = 500;
/// Ended sessions are kept to show who was logged in when.
const SESSIONS_KEPT: TimeDelta = TimeDelta::days(30);
/// The sender removes expired mails earlier. This removes the mails of an operator who has disabled mails.
const MAILS_KEPT: TimeDelta = TimeDelta::days(1);

/// Deletes batches while there are full ones, up to a limit.
pub(crate) async fn prune(state: &State) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    let kept = state.audit_retention;
    // Nothing is older than the epoch.
    let before = |kept: Option<TimeDelta>| kept.map_or(DateTime::UNIX_EPOCH, |kept| now - kept);
    for _ in 0..BATCHES_MAX {
        let pruned: Result<[usize; 12], StoreError> = state
            .unit
            .database
            .read(async |conn| {
                Ok([
                    sessions::prune(conn, now - SESSIONS_KEPT, BATCH_MAX).await?,
                    attempts::prune(conn, now, BATCH_MAX).await?,
                    invitations::prune(conn, now, BATCH_MAX).await?,
                    password_links::prune(conn, now, BATCH_MAX).await?,
                    email_confirmations::prune(conn, now, BATCH_MAX).await?,
                    mails::prune(conn, now - MAILS_KEPT, BATCH_MAX).await?,
                    log_in_challenges::prune(conn, now, BATCH_MAX).await?,
                    passkey_ceremonies::prune(conn, now, BATCH_MAX).await?,
                    sso_log_ins::prune(conn, now, BATCH_MAX).await?,
                    operator_audit_log::prune(conn, before(kept.of_operator), BATCH_MAX).await?,
                    approvals::prune(conn, before(kept.of_operator), BATCH_MAX).await?,
                    audit_log::prune(conn, before(kept.of_businesses), BATCH_MAX).await?,
                ])
            })
            .await;
        let pruned = pruned?;
        tracing::debug!(?pruned, "old rows deleted");
        if pruned.iter().all(|rows| *rows < usize::try_from(BATCH_MAX).unwrap_or(usize::MAX)) {
            break;
        }
    }
    prune_exports(state).await?;
    erase_closed(state).await
}

/// One at a time, because a file can be large.
async fn prune_exports(state: &State) -> Result<(), StoreError> {
    let (now, database) = (state.unit.clock.now(), &state.unit.database);
    for _ in 0..EXPORTS_MAX {
        let pruned: Result<usize, StoreError> =
            database.read(async |conn| exports::prune(conn, now, 1).await).await;
        if pruned? == 0 {
            break;
        }
    }
    Ok(())
}
