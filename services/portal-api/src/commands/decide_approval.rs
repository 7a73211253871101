//! A second person approves or rejects a request, or the requester withdraws it. An approved credit is executed here too.

use diesel_async::AsyncPgConnection;
use domain::{ApprovalId, Paise};
use internal_api::CallError;
use internal_api::wallet::CreditView;
use postgres::StoreError;
use serde_json::json;

use super::audit::{write_audit, write_operator_audit};
use super::change_business::{self, ChangeBusinessError};
use super::record_go_live_fact::record_funding;
use super::request_approval::{end_outdated, event};
use super::staff::still_may;
use crate::domain::{
    Action, Approval, ApprovalCaller, ApprovalRefusal, ApprovalState, AuditEvent, Author, ProtectedAction,
    Target, TargetKind,
};
use crate::state::State;
use crate::store::{approvals, staff};

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
    // Committed: the request ended instead.
    if approved.stored == ApprovalState::Withdrawn {
        return Err(DecideError::SuspensionEnded);
    }
    tracing::info!(approval_id = %id, state = %approved.stored, "approval given");
    state.mailbox.wake_sender();
    match &approved.action {
        ProtectedAction::Credit { amount_paise, reference } if approved.stored == ApprovalState::Approved => {
            let credited = credit(state, &approved, *amount_paise, reference).await;
            finish_credit(state, author, id, credited).await
        }
        _ => Ok(approved),
    }
}

/// False for a request to lift a suspension that has ended, even if the business is suspended again.
async fn is_current(conn: &mut AsyncPgConnection, approval: &Approval) -> Result<bool, DecideError> {
    match &approval.action {
        ProtectedAction::LiftSuspension(lift) => {
            Ok(change_business::is_present(conn, approval.business, lift).await?)
        }
        ProtectedAction::Credit { .. } | ProtectedAction::IssueResetLink { .. } => Ok(true),
    }
}

/// What can be executed in the transaction of the approval. Before a credit, the log records the attempt.
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
        ProtectedAction::LiftSuspension(lift) => {
            let request = (approved.id, approved.business);
            change_business::lift(conn, state, request, author, &lift.change).await?;
            Ok(approved.executed(None, state.unit.clock.now()))
        }
        ProtectedAction::IssueResetLink { .. } => Ok(approved),
    }
}

/// The wallet credits each reference once, so that a repeated call returns the same credit.
async fn credit(
    state: &State,
    approval: &Approval,
    amount: Paise,
    reference: &str,
) -> Result<CreditView, CallError> {
    let body = json!({ "amountPaise": amount, "reference": reference });
    let credited = state.peers.wallet.credit(approval.business, &body).await?;
    record_funding(state, approval.business, credited.amount_paise).await;
    Ok(credited)
}

/// Records the outcome, once. Without a final one the request stays approved, and can be executed again.
async fn finish_credit(
    state: &State,
    author: &Author,
    id: ApprovalId,
    credited: Result<CreditView, CallError>,
) -> Result<Approval, DecideError> {
    match credited {
        Ok(credit) => record_credit(state, author, id, &credit).await,
        Err(error) => {
            if let Some(code) = final_refusal(&error) {
                record_failure(state, author, id, code).await?;
            }
            Err(error.into())
        }
    }
}

async fn record_credit(
    state: &State,
    author: &Author,
    id: ApprovalId,
    credit: &CreditView,
) -> Result<Approval, DecideError> {
    let transfer = credit.transfer_id;
    let database = &state.unit.database;
    database
        .transaction(async |conn| {
            let before = approvals::find_for_update(conn, id).await?.ok_or(DecideError::Unknown)?;
            if before.stored != ApprovalState::Approved {
                return Ok(before);
            }
            let after = before.executed(Some(transfer.to_string()), state.unit.clock.now());
            approvals::update(conn, &after).await?;
            let event = AuditEvent::once(Action::WalletCredited, Target::new(TargetKind::Transfer, transfer))
                .with("amountPaise", credit.amount_paise.get())
                .with("reference", credit.reference.as_str());
            write_audit(conn, state, after.business, author, &event).await?;
            Ok(after)
        })
        .await
}

async fn record_failure(
    state: &State,
    author: &Author,
    id: ApprovalId,
    code: &str,
) -> Result<(), DecideError> {
    let database = &state.unit.database;
    database
        .transaction(async |conn| {
            let before = approvals::find_for_update(conn, id).await?.ok_or(DecideError::Unknown)?;
            if before.stored != ApprovalState::Approved {
                return Ok(());
            }
            let after = before.failed(code.to_owned(), state.unit.clock.now());
            approvals::update(conn, &after).await?;
            Ok(log(conn, state, author, Action::ApprovalFailed, &after).await?)
        })
        .await
}

/// A refusal after which the same credit can never be posted.
fn final_refusal(error: &CallError) -> Option<&str> {
    error.refusal_code().filter(|code| matches!(*code, "reference_reused" | "invalid_request"))
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

/// The locked request, and its caller. Locks the staff too: persons may have been demoted or removed since the guard's check.
pub(super) async fn load(
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

async fn log(
    conn: &mut AsyncPgConnection,
    state: &State,
    author: &Author,
    action: Action,
    approval: &Approval,
) -> Result<(), StoreError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    write_operator_audit(conn, parts, Some(approval.business), author, &event(action, approval)).await
}
