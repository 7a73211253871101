//! An owner or the operator begins to close a business, or withdraws that. Live orders are refused meanwhile.

use diesel_async::AsyncPgConnection;
use domain::BusinessId;
use postgres::StoreError;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, Actor, AuditEvent, Author, Target, TargetKind};
use crate::business::domain::{Business, Closing};
use crate::commands::announce::announce_business_change;
use crate::mail::{ClosingNews, Mail};
use crate::state::State;
use crate::store::{businesses, closings};
use crate::team::commands::owners::{is_still_owner, mail_owners};

#[derive(Debug, thiserror::Error)]
pub(crate) enum ClosingError {
    #[error("the business is unknown")]
    Unknown,
    #[error("the author is no longer an owner")]
    NotOwner,
    #[error("the business is closed")]
    Closed,
    #[error("keys and endpoints are being ended")]
    Ends,
    #[error("the operator began it, and an owner withdraws it")]
    OfOperator,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Switches live access off. A repeated call changes nothing, but the operator takes over the closing of an owner.
pub(crate) async fn begin_closing(
    state: &State,
    business: BusinessId,
    author: &Author,
    reason: Option<String>,
) -> Result<(), ClosingError> {
    let begun: Result<(), ClosingError> = state
        .unit
        .transaction(async |conn| {
            let before = lock(conn, business, author).await?;
            let begun = Closing {
                business,
                requested_at: state.unit.clock.now(),
                by_operator: matches!(author.actor, Actor::Operator(_)),
                reason: reason.clone(),
                restores_live_access: before.live_access,
                ending_at: None,
                completed_at: None,
                erase_after: None,
                erased_at: None,
            };
            let news = match closings::find(conn, business).await? {
                None => {
                    closings::insert(conn, &begun).await?;
                    ClosingNews::Begun
                }
                Some(found) if found.completed_at.is_some() => return Err(ClosingError::Closed),
                Some(found) if begun.by_operator && !found.by_operator => {
                    closings::take_over(conn, &begun).await?;
                    ClosingNews::TakenOver
                }
                Some(_) => return Ok(()),
            };
            set_live_access(conn, state, &before, false).await?;
            write(conn, state, (business, author), Action::BusinessClosingBegun).await?;
            tell_owners(conn, state, business, news).await
        })
        .await;
    begun?;
    state.mailbox.wake_sender();
    tracing::info!(business_id = %business, "closing of the business begun");
    Ok(())
}

/// Restores live access, unless the operator has switched it off meanwhile. Changes nothing without a closing.
pub(crate) async fn withdraw_closing(
    state: &State,
    business: BusinessId,
    author: &Author,
) -> Result<(), ClosingError> {
    let withdrawn: Result<(), ClosingError> = state
        .unit
        .transaction(async |conn| {
            let before = lock(conn, business, author).await?;
            let Some(closing) = closings::find(conn, business).await? else { return Ok(()) };
            if closing.completed_at.is_some() {
                return Err(ClosingError::Closed);
            }
            if closing.ending_at.is_some() {
                return Err(ClosingError::Ends);
            }
            if closing.by_operator && !matches!(author.actor, Actor::Operator(_)) {
                return Err(ClosingError::OfOperator);
            }
            closings::remove(conn, business).await?;
            let live_access = before.live_access || closing.restores_live_access;
            set_live_access(conn, state, &before, live_access).await?;
            write(conn, state, (business, author), Action::BusinessClosingWithdrawn).await?;
            tell_owners(conn, state, business, ClosingNews::Withdrawn).await
        })
        .await;
    withdrawn?;
    state.mailbox.wake_sender();
    tracing::info!(business_id = %business, "closing of the business withdrawn");
    Ok(())
}

async fn lock(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    author: &Author,
) -> Result<Business, ClosingError> {
    let found = businesses::find_for_update(conn, business).await?.ok_or(ClosingError::Unknown)?;
    if !is_still_owner(conn, business, author).await? {
        return Err(ClosingError::NotOwner);
    }
    Ok(found)
}

pub(super) async fn set_live_access(
    conn: &mut AsyncPgConnection,
    state: &State,
    before: &Business,
    live_access: bool,
) -> Result<(), StoreError> {
    if before.live_access != live_access {
        let after = Business { live_access, ..before.clone() };
        businesses::update(conn, &after, state.unit.clock.now()).await?;
        announce_business_change(conn, state, before.id).await?;
    }
    Ok(())
}

async fn write(
    conn: &mut AsyncPgConnection,
    state: &State,
    (business, author): (BusinessId, &Author),
    action: Action,
) -> Result<(), ClosingError> {
    // The log has no text that somebody wrote.
    let event = AuditEvent::new(action).on(Target::new(TargetKind::Business, business));
    Ok(write_audit(conn, state, business, author, &event).await?)
}

/// Call [`crate::mail::Mailbox::wake_sender`] after the commit.
async fn tell_owners(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
    news: ClosingNews,
) -> Result<(), ClosingError> {
    let mail = Mail::Closing { news, at: state.unit.clock.now() };
    Ok(mail_owners(conn, state, business, &mail).await?)
}
