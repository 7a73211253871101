//! Credits and debits of wallets that a second person has approved. The wallet moves the money once for each reference, so that
//! a repeated call returns the same transfer.

use chrono::{DateTime, Utc};
use domain::{ApprovalId, BusinessId, Paise, TransferId};
use internal_api::CallError;
use internal_api::wallet::{CreditView, OperatorDebitView};
use serde_json::json;

use super::audit::write_audit;
use super::decide_approval::{DecideError, log};
use super::record_go_live_fact::record_funding;
use crate::domain::{
    Action, Approval, ApprovalState, AuditEvent, Author, ProtectedAction, Target, TargetKind, WalletDebit,
};
use crate::state::State;
use crate::store::approvals;

/// The outcome of a request whose reference the wallet had booked before the request was made.
const ALREADY_BOOKED: &str = "already_booked";

/// A transfer of the wallet.
struct Moved {
    transfer: TransferId,
    created_at: DateTime<Utc>,
    already: bool,
    event: AuditEvent,
}

pub(crate) fn credited(credit: &CreditView) -> AuditEvent {
    AuditEvent::once(Action::WalletCredited, Target::new(TargetKind::Transfer, credit.transfer_id))
        .with("amountPaise", credit.amount_paise.get())
        .with("reference", credit.reference.as_str())
}

pub(crate) fn debited(debit: &WalletDebit, transfer: TransferId) -> AuditEvent {
    debit.describe(AuditEvent::once(Action::WalletDebited, Target::new(TargetKind::Transfer, transfer)))
}

/// Asks the wallet to take the money.
pub(crate) async fn debit(
    state: &State,
    business: BusinessId,
    debit: &WalletDebit,
) -> Result<OperatorDebitView, CallError> {
    let WalletDebit { amount_paise, reference, reverses, .. } = debit;
    let body = json!({ "amountPaise": amount_paise, "reference": reference, "reverses": reverses });
    state.peers.wallet.debit_by_operator(business, &body).await
}

/// Executes an approved credit or debit, and records the outcome. Without a final one the request stays approved, and can be
/// executed again. Other requests are returned unchanged.
pub(super) async fn finish(
    state: &State,
    author: &Author,
    approved: Approval,
) -> Result<Approval, DecideError> {
    if approved.stored != ApprovalState::Approved {
        return Ok(approved);
    }
    let moved = match &approved.action {
        ProtectedAction::Credit { amount_paise, reference } => {
            credit(state, approved.business, *amount_paise, reference).await
        }
        ProtectedAction::Debit(wanted) => debit(state, approved.business, wanted).await.map(|taken| Moved {
            transfer: taken.transfer_id,
            created_at: taken.created_at,
            already: taken.already_debited,
            event: debited(wanted, taken.transfer_id),
        }),
        ProtectedAction::LiftSuspension(_) | ProtectedAction::IssueResetLink { .. } => return Ok(approved),
    };
    match moved {
        Ok(moved) if moved.already && moved.created_at < approved.requested_at => {
            record(state, author, approved.id, Err(ALREADY_BOOKED)).await
        }
        Ok(moved) => record(state, author, approved.id, Ok(moved)).await,
        Err(error) => {
            if let Some(code) = final_refusal(&error) {
                record(state, author, approved.id, Err(code)).await?;
            }
            Err(error.into())
        }
    }
}

async fn credit(
    state: &State,
    business: BusinessId,
    amount: Paise,
    reference: &str,
) -> Result<Moved, CallError> {
    let body = json!({ "amountPaise": amount, "reference": reference });
    let credit = state.peers.wallet.credit(business, &body).await?;
    record_funding(state, business, credit.amount_paise).await;
    Ok(Moved {
        transfer: credit.transfer_id,
        created_at: credit.created_at,
        already: credit.already_credited,
        event: credited(&credit),
    })
}

/// Records the outcome, once: the transfer, or the code of a failure.
async fn record(
    state: &State,
    author: &Author,
    id: ApprovalId,
    outcome: Result<Moved, &str>,
) -> Result<Approval, DecideError> {
    let (database, now) = (&state.unit.database, state.unit.clock.now());
    database
        .transaction(async |conn| {
            let before = approvals::find_for_update(conn, id).await?.ok_or(DecideError::Unknown)?;
            if before.stored != ApprovalState::Approved {
                return Ok(before);
            }
            let after = match &outcome {
                Ok(moved) => before.executed(Some(moved.transfer.to_string()), now),
                Err(code) => before.failed((*code).to_owned(), now),
            };
            approvals::update(conn, &after).await?;
            match &outcome {
                Ok(moved) => write_audit(conn, state, after.business, author, &moved.event).await?,
                Err(_) => log(conn, state, author, Action::ApprovalFailed, &after).await?,
            }
            Ok(after)
        })
        .await
}

/// A refusal after which the request must be made again.
fn final_refusal(error: &CallError) -> Option<&str> {
    const FINAL: [&str; 5] = [
        "reference_reused",
        "invalid_request",
        "insufficient_balance",
        "exceeds_transfer",
        "transfer_not_reversible",
    ];
    error.refusal_code().filter(|code| FINAL.contains(code))
}
