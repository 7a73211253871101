//! A second person approves or rejects a request, or the requester withdraws it.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{ApprovalId, BusinessId};
use internal_api::CallError;
use postgres::StoreError;

use crate::approvals::commands::request_approval::{end_outdated, event};
use crate::approvals::commands::{approval_limit, move_money};
use crate::approvals::domain::{
    Approval, ApprovalCaller, ApprovalRefusal, ApprovalState, ProtectedAction, RELATED_FOR, are_related,
};
use crate::approvals::store::approvals;
use crate::audit::commands::audit::write_operator_audit;
use crate::audit::domain::{Action, Author};
use crate::business::commands::change_business::{self, ChangeBusinessError};
use crate::console::commands::staff::still_may;
use crate::domain::OperatorActor;
use crate::state::State;
use crate::store::{operator_audit_log, staff};

#[derive(Debug, thiserror::Error)]
pub(crate) enum DecideError {
    #[error("there is no such request")]
    Unknown,
    #[error("the step is refused: {0:?}")]
    Refused(ApprovalRefusal),
    #[error("the user was removed")]
    UserRemoved,
    #[error("the suspension that the request would lift has ended")]
    SuspensionEnded,
    #[error(transparent)]
    Change(#[from] ChangeBusinessError),
    #[error(transparent)]
    Wallet(#[from] CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ApprovalRefusal> for DecideError {
    fn from(refusal: ApprovalRefusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Approves, and executes unless the requester must fetch a link. Repeating it finishes a credit whose outcome is unknown.
pub(crate) async fn approve(
    state: &State,
    author: &Author,
    id: ApprovalId,
    reason: Option<String>,
) -> Result<Approval, DecideError> {
    let approved: Result<Approval, DecideError> = state
        .unit
        .transaction(async |conn| {
            let (before, by) = load(conn, state, author, id).await?;
            let permission = before.kind().permission();
            let requester_may = still_may(conn, state, &before.requester, permission).await?;
            let after = before.approve(&by, requester_may, reason.clone(), state.unit.clock.now())?;
            if after != before {
                require_unrelated(conn, &before.requester, &by.actor, state.unit.clock.now()).await?;
                if !is_current(conn, &before).await? {
                    return Ok(end_outdated(conn, state, author, before).await?);
                }
                log(conn, state, author, Action::ApprovalApproved, &after).await?;
            }
            let after = execute(conn, state, author, after).await?;
            if after != before {
                approvals::update(conn, &after).await?;
            }
            Ok(after)
        })
        .await;
    let approved = approved?;
    // Committed: the request failed instead.
    if approved.stored == ApprovalState::Failed {
        return Err(DecideError::SuspensionEnded);
    }
    tracing::info!(approval_id = %id, state = %approved.stored, "approval given");
    state.mailbox.wake_sender();
    move_money::finish(state, author, approved).await
}

/// Refuses the approval if one person may have set up both accounts.
async fn require_unrelated(
    conn: &mut AsyncPgConnection,
    requester: &OperatorActor,
    approver: &OperatorActor,
    now: DateTime<Utc>,
) -> Result<(), DecideError> {
    let (Some(requester), Some(approver)) = (requester.id(), approver.id()) else { return Ok(()) };
    let given = operator_audit_log::access_given(conn, now - RELATED_FOR, &requester).await?;
    match are_related(&given, &requester, &approver) {
        true => Err(ApprovalRefusal::RelatedAccount.into()),
        false => Ok(()),
    }
}

/// False for a request to lift a suspension that has ended, even if the business is suspended again.
async fn is_current(conn: &mut AsyncPgConnection, approval: &Approval) -> Result<bool, DecideError> {
    match &approval.action {
        ProtectedAction::LiftSuspension(lift) => {
            Ok(change_business::is_present(conn, business_of(approval)?, lift).await?)
        }
        ProtectedAction::Credit { .. }
        | ProtectedAction::Debit(_)
        | ProtectedAction::RaiseLimit { .. }
        | ProtectedAction::IssueResetLink { .. } => Ok(true),
    }
}

/// What can be executed in the transaction of the approval. Before the wallet is asked, the log records the attempt.
async fn execute(
    conn: &mut AsyncPgConnection,
    state: &State,
    author: &Author,
    approved: Approval,
) -> Result<Approval, DecideError> {
    if approved.stored != ApprovalState::Approved {
        return Ok(approved);
    }
    match &approved.action {
        ProtectedAction::Credit { .. } => {
            log(conn, state, author, Action::WalletCreditRequested, &approved).await?;
            Ok(approved)
        }
        ProtectedAction::Debit(_) => {
            log(conn, state, author, Action::WalletDebitRequested, &approved).await?;
            Ok(approved)
        }
        ProtectedAction::RaiseLimit { credits_above_paise } => {
            approval_limit::change(conn, state, author, *credits_above_paise).await?;
            Ok(approved.executed(None, state.unit.clock.now()))
        }
        ProtectedAction::LiftSuspension(lift) => {
            let request = (approved.id, business_of(&approved)?);
            change_business::lift(conn, state, request, author, &lift.change).await?;
            Ok(approved.executed(None, state.unit.clock.now()))
        }
        ProtectedAction::IssueResetLink { .. } => Ok(approved),
    }
}

pub(crate) async fn reject(
    state: &State,
    author: &Author,
    id: ApprovalId,
    reason: String,
) -> Result<Approval, DecideError> {
    let now = state.unit.clock.now();
    let rejected: Result<Approval, DecideError> = state
        .unit
        .database
        .transaction(async |conn| {
            let (before, by) = load(conn, state, author, id).await?;
            let after = before.reject(&by, reason.clone(), now)?;
            approvals::update(conn, &after).await?;
            log(conn, state, author, Action::ApprovalRejected, &after).await?;
            Ok(after)
        })
        .await;
    let rejected = rejected?;
    tracing::info!(approval_id = %id, "approval rejected");
    Ok(rejected)
}

pub(crate) async fn withdraw(
    state: &State,
    author: &Author,
    id: ApprovalId,
) -> Result<Approval, DecideError> {
    let now = state.unit.clock.now();
    let withdrawn: Result<Approval, DecideError> = state
        .unit
        .database
        .transaction(async |conn| {
            let (before, by) = load(conn, state, author, id).await?;
            let after = before.withdraw(&by, now)?;
            approvals::update(conn, &after).await?;
            log(conn, state, author, Action::ApprovalWithdrawn, &after).await?;
            Ok(after)
        })
        .await;
    let withdrawn = withdrawn?;
    tracing::info!(approval_id = %id, "approval withdrawn");
    Ok(withdrawn)
}

/// The business of a request that is about one.
pub(crate) fn business_of(approval: &Approval) -> Result<BusinessId, StoreError> {
    approval
        .business
        .ok_or_else(|| StoreError::Corrupt("operator_approvals.about_business is null".to_owned()))
}

/// The locked request, and its caller. Locks the staff too: persons may have been demoted or removed since the guard's check.
pub(crate) async fn load(
    conn: &mut AsyncPgConnection,
    state: &State,
    author: &Author,
    id: ApprovalId,
) -> Result<(Approval, ApprovalCaller), DecideError> {
    let found = approvals::find_for_update(conn, id).await?.ok_or(DecideError::Unknown)?;
    staff::lock(conn).await?;
    let actor = author.operator_actor().clone();
    let may = still_may(conn, state, &actor, found.kind().permission()).await?;
    Ok((found, ApprovalCaller { actor, may }))
}

pub(crate) async fn log(
    conn: &mut AsyncPgConnection,
    state: &State,
    author: &Author,
    action: Action,
    approval: &Approval,
) -> Result<(), StoreError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    write_operator_audit(conn, parts, approval.business, author, &event(action, approval)).await
}
