//! Credits and debits of wallets that a second person has approved. The wallet moves the money once for each reference, so that
//! a repeated call returns the same transfer.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{ApprovalId, BusinessId, TransferId};
use internal_api::CallError;
use internal_api::wallet::{CreditView, OperatorDebitView};
use postgres::StoreError;
use serde_json::{Value, json};

use crate::approvals::commands::decide_approval::{DecideError, business_of, log};
use crate::approvals::domain::{Approval, ApprovalState, ProtectedAction, WalletDebit};
use crate::approvals::store::approvals;
use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::go_live::commands::record_go_live_fact::record_funding;
use crate::state::State;
use crate::store::audit_log;

/// The wallet's transfer with the reference of a request.
struct Moved {
    transfer: TransferId,
    created_at: DateTime<Utc>,
    /// By an earlier call: of this request, whose outcome was not recorded, or of somebody else.
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

/// Asks the wallet for a credit, and records that the wallet is funded.
pub(crate) async fn credit(
    state: &State,
    business: BusinessId,
    body: &Value,
) -> Result<CreditView, CallError> {
    let credit = state.peers.wallet.credit(business, body).await?;
    record_funding(state, business, credit.amount_paise).await;
    Ok(credit)
}

/// Asks the wallet to take the money.
pub(crate) async fn debit(
    state: &State,
    business: BusinessId,
    debit: &WalletDebit,
) -> Result<OperatorDebitView, CallError> {
    state.peers.wallet.debit_by_operator(business, &json!(debit)).await
}

/// Refuses what the wallet would refuse, before a request waits for its approval.
pub(crate) async fn check_debit(
    state: &State,
    business: BusinessId,
    debit: &WalletDebit,
) -> Result<(), CallError> {
    state.peers.wallet.check_debit_by_operator(business, &json!(debit)).await
}

/// Executes an approved credit or debit, and records the outcome. Without a final one the request stays approved, and can be
/// executed again. Other requests are returned unchanged.
pub(crate) async fn finish(
    state: &State,
    author: &Author,
    approved: Approval,
) -> Result<Approval, DecideError> {
    if approved.stored != ApprovalState::Approved {
        return Ok(approved);
    }
    let moved = match &approved.action {
        ProtectedAction::Credit { amount_paise, reference } => {
            let body = json!({ "amountPaise": amount_paise, "reference": reference });
            credit(state, business_of(&approved)?, &body).await.map(|made| Moved {
                transfer: made.transfer_id,
                created_at: made.created_at,
                already: made.already_credited,
                event: credited(&made),
            })
        }
        ProtectedAction::Debit(wanted) => {
            debit(state, business_of(&approved)?, wanted).await.map(|taken| Moved {
                transfer: taken.transfer_id,
                created_at: taken.created_at,
                already: taken.already_debited,
                event: debited(wanted, taken.transfer_id),
            })
        }
        ProtectedAction::RaiseLimit { .. }
        | ProtectedAction::LiftSuspension(_)
        | ProtectedAction::IssueResetLink { .. } => return Ok(approved),
    };
    match moved {
        Ok(moved) => record(state, author, approved.id, Ok(moved)).await,
        Err(error) => match final_refusal(&error) {
            None => Err(error.into()),
            Some(code) => {
                let recorded = record(state, author, approved.id, Err(code)).await?;
                if recorded.stored == ApprovalState::Executed { Ok(recorded) } else { Err(error.into()) }
            }
        },
    }
}

/// Records the outcome, once: the transfer, or the code of a refusal. A transfer also replaces a refusal: with two approvals at
/// once, the wallet may refuse the first and book the second.
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
            if before.stored == ApprovalState::Executed {
                return Ok(before);
            }
            let after = match &outcome {
                Ok(moved) if !is_by_another(conn, &before, moved).await? => {
                    before.executed(Some(moved.transfer.to_string()), now)
                }
                _ if before.stored != ApprovalState::Approved => return Ok(before),
                Ok(moved) => before.already_booked(moved.created_at, now),
                Err(code) => before.failed((*code).to_owned(), now),
            };
            approvals::update(conn, &after).await?;
            match &outcome {
                Ok(moved) if after.stored == ApprovalState::Executed => {
                    write_audit(conn, state, business_of(&after)?, author, &moved.event).await?;
                }
                _ => log(conn, state, author, Action::ApprovalFailed, &after).await?,
            }
            Ok(after)
        })
        .await
}

/// Whether another request or call moved the money: before this request was made, or as the audit log says, which names each
/// transfer once.
async fn is_by_another(
    conn: &mut AsyncPgConnection,
    approval: &Approval,
    moved: &Moved,
) -> Result<bool, StoreError> {
    if moved.already && moved.created_at < approval.requested_at {
        return Ok(true);
    }
    let business = business_of(approval)?;
    audit_log::lock_once(conn, business, &moved.event).await?;
    audit_log::has(conn, business, &moved.event).await
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
