//! The operator refuses what a business waits for, its approval or live access, and says why. An owner asks again.

use diesel_async::AsyncPgConnection;
use domain::BusinessId;
use postgres::StoreError;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::mail::Mail;
use crate::state::State;
use crate::store::{businesses, refusals};
use crate::team::commands::owners::{is_still_owner, mail_owners};

#[derive(Debug, thiserror::Error)]
pub(crate) enum RefusalError {
    #[error("the business is unknown")]
    Unknown,
    #[error("the author is no longer an owner")]
    NotOwner,
    #[error("the business does not wait for the operator")]
    NotWaiting,
    #[error("nothing was refused")]
    NotRefused,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Replaces an earlier refusal, also one after which the business asked again.
pub(crate) async fn refuse_business(
    state: &State,
    business: BusinessId,
    author: &Author,
    reason: &str,
) -> Result<(), RefusalError> {
    let now = state.unit.clock.now();
    let refused: Result<(), RefusalError> = state
        .unit
        .transaction(async |conn| {
            lock_waiting(conn, business).await?;
            refusals::put(conn, business, reason, now).await?;
            // Without the reason: an erasure cannot remove it from the logs.
            let event =
                AuditEvent::new(Action::BusinessRefused).on(Target::new(TargetKind::Business, business));
            write_audit(conn, state, business, author, &event).await?;
            let mail = Mail::BusinessRefused { at: now, reason };
            Ok(mail_owners(conn, state, business, &mail).await?)
        })
        .await;
    refused?;
    state.mailbox.wake_sender();
    tracing::info!(business_id = %business, "business refused");
    Ok(())
}

/// A business that asked without a note, such as by the request of a plan, adds one later. A further call changes nothing.
pub(crate) async fn ask_again(
    state: &State,
    business: BusinessId,
    author: &Author,
    note: Option<&str>,
) -> Result<(), RefusalError> {
    let now = state.unit.clock.now();
    let asked: Result<(), RefusalError> = state
        .unit
        .transaction(async |conn| {
            lock_waiting(conn, business).await?;
            if !is_still_owner(conn, business, author).await? {
                return Err(RefusalError::NotOwner);
            }
            let refusal = refusals::find(conn, business).await?.ok_or(RefusalError::NotRefused)?;
            if refusal.asked_again_at.is_some() && (refusal.note.is_some() || note.is_none()) {
                return Ok(());
            }
            refusals::ask_again(conn, business, note, now).await?;
            // Without the note, as above.
            let event =
                AuditEvent::new(Action::BusinessAskedAgain).on(Target::new(TargetKind::Business, business));
            Ok(write_audit(conn, state, business, author, &event).await?)
        })
        .await;
    asked?;
    tracing::info!(business_id = %business, "business asked again");
    Ok(())
}

async fn lock_waiting(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<(), RefusalError> {
    let found = businesses::find_for_update(conn, business).await?.ok_or(RefusalError::Unknown)?;
    if found.awaits_operator() { Ok(()) } else { Err(RefusalError::NotWaiting) }
}
