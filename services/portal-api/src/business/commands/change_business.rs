//! The operator changes the status, the subscription or the live access of a business.

use diesel_async::AsyncPgConnection;
use domain::{ApprovalId, BusinessId};
use postgres::StoreError;

use crate::approvals::commands::request_approval::{self, RequestApprovalError};
use crate::approvals::domain::{Approval, ProtectedAction, SuspensionLift};
use crate::audit::commands::audit::write_audit;
use crate::audit::domain::Author;
use crate::business::domain::{Business, BusinessChange, BusinessStatus};
use crate::commands::announce::announce_business_change;
use crate::mail::Mail;
use crate::state::State;
use crate::store::{businesses, closings, refusals};
use crate::team::commands::owners::mail_owners;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeBusinessError {
    #[error("the business is unknown")]
    Unknown,
    /// The business has requested another plan in the meantime.
    #[error("another plan would become active")]
    PlanChanged { plan: Option<String> },
    #[error("live access stays off while the business is being closed")]
    Closing,
    #[error("the business is closed")]
    Closed,
    #[error(transparent)]
    Approval(#[from] RequestApprovalError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Announces the change unless it has no effect. Returns the request, if the change waits for an approval instead.
pub(crate) async fn change_business(
    state: &State,
    business: BusinessId,
    author: &Author,
    change: BusinessChange,
) -> Result<Option<Approval>, ChangeBusinessError> {
    let changed: Result<Option<Approval>, ChangeBusinessError> = state
        .unit
        .transaction(async |conn| {
            let before = businesses::find_for_update(conn, business).await?;
            let before = before.ok_or(ChangeBusinessError::Unknown)?;
            respect_closing(conn, business, &change).await?;
            if state.approvals.lift_suspension && change.lifts_suspension_of(&before) {
                after_change(&before, &change)?;
                let suspension = businesses::suspensions(conn, business).await?;
                let lift = SuspensionLift { change: change.clone(), suspension };
                let action = ProtectedAction::LiftSuspension(lift);
                let requested =
                    request_approval::request(conn, state, Some(business), author, action).await?;
                return Ok(Some(requested));
            }
            apply(conn, state, &before, author, (&change, None)).await?;
            Ok(None)
        })
        .await;
    let requested = changed?;
    if requested.is_none() {
        tracing::info!(business_id = %business, ?change, "business changed by the operator");
        state.mailbox.wake_sender();
    }
    Ok(requested)
}

/// Whether the suspension of the request is the present one. Locks the business.
pub(crate) async fn is_present(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    lift: &SuspensionLift,
) -> Result<bool, ChangeBusinessError> {
    let found = businesses::find_for_update(conn, business).await?.ok_or(ChangeBusinessError::Unknown)?;
    Ok(found.status == BusinessStatus::Suspended
        && businesses::suspensions(conn, business).await? == lift.suspension)
}

/// Makes an approved change, of the present suspension.
pub(crate) async fn lift(
    conn: &mut AsyncPgConnection,
    state: &State,
    (approval, business): (ApprovalId, BusinessId),
    author: &Author,
    change: &BusinessChange,
) -> Result<(), ChangeBusinessError> {
    let before = businesses::find_for_update(conn, business).await?.ok_or(ChangeBusinessError::Unknown)?;
    respect_closing(conn, business, change).await?;
    apply(conn, state, &before, author, (change, Some(approval))).await
}

/// While the business is being closed, live access stays off. A withdrawal does not restore what the operator switches off meanwhile.
async fn respect_closing(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    change: &BusinessChange,
) -> Result<(), ChangeBusinessError> {
    match change.live_access {
        None => Ok(()),
        Some(false) => Ok(closings::keep_live_access_off(conn, business).await?),
        Some(true) => match closings::find(conn, business).await? {
            Some(found) if found.completed_at.is_some() => Err(ChangeBusinessError::Closed),
            Some(_) => Err(ChangeBusinessError::Closing),
            None => Ok(()),
        },
    }
}

async fn apply(
    conn: &mut AsyncPgConnection,
    state: &State,
    before: &Business,
    author: &Author,
    (change, approval): (&BusinessChange, Option<ApprovalId>),
) -> Result<(), ChangeBusinessError> {
    let after = after_change(before, change)?;
    if change.lifts_suspension_of(before) {
        request_approval::end_lifts(conn, state, before.id, approval, author).await?;
    }
    if after != *before {
        businesses::update(conn, &after, state.unit.clock.now()).await?;
        if after.got_on_since(before) {
            refusals::remove(conn, before.id).await?;
        }
        announce_business_change(conn, state, before.id).await?;
        write_audit(conn, state, before.id, author, &change.audit_event(before)).await?;
        mail_owners_about(conn, state, (before, &after), change.reason.as_deref()).await?;
    }
    Ok(())
}

/// Suspensions, their end, and granted live access. Call [`crate::mail::Mailbox::wake_sender`] after the commit.
async fn mail_owners_about(
    conn: &mut AsyncPgConnection,
    state: &State,
    (before, after): (&Business, &Business),
    reason: Option<&str>,
) -> Result<(), StoreError> {
    let at = state.unit.clock.now();
    let is_suspended = |business: &Business| business.status == BusinessStatus::Suspended;
    let standing = match (is_suspended(before), is_suspended(after)) {
        (false, true) => Some(Mail::BusinessSuspended { at, reason }),
        (true, false) => Some(Mail::SuspensionLifted { at }),
        (false, false) | (true, true) => None,
    };
    let granted = (!before.live_access && after.live_access).then_some(Mail::LiveAccessGranted { at });
    for mail in standing.into_iter().chain(granted) {
        mail_owners(conn, state, before.id, &mail).await?;
    }
    Ok(())
}

fn after_change(before: &Business, change: &BusinessChange) -> Result<Business, ChangeBusinessError> {
    let after = change.apply_to(before);
    match &change.plan {
        Some(expected) if *expected != after.subscription.plan => {
            Err(ChangeBusinessError::PlanChanged { plan: after.subscription.plan })
        }
        _ => Ok(after),
    }
}
