//! Stores a call of the operator that needs a second person, instead of executing it.

use diesel_async::AsyncPgConnection;
use domain::{ApprovalId, BusinessId, Paise};
use postgres::StoreError;

use crate::approvals::domain::{Approval, ProtectedAction};
use crate::approvals::store::approvals;
use crate::audit::commands::audit::write_operator_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::state::State;

/// Open requests of one person or token.
const OPEN_OWN_MAX: i64 = 20;
const OPEN_MAX: i64 = 200;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestApprovalError {
    #[error("too many requests of the caller, or of all, are open")]
    TooMany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Stores the request in a transaction of its own.
pub(crate) async fn request_approval(
    state: &State,
    business: BusinessId,
    author: &Author,
    action: ProtectedAction,
) -> Result<Approval, RequestApprovalError> {
    let database = &state.unit.database;
    database
        .transaction(async |conn| request(conn, state, Some(business), author, action.clone()).await)
        .await
}

/// Stores the request. A repeated call returns the open request.
pub(crate) async fn request(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: Option<BusinessId>,
    author: &Author,
    action: ProtectedAction,
) -> Result<Approval, RequestApprovalError> {
    let (clock, entropy) = (&state.unit.clock, &state.unit.entropy);
    let (id, requester) = (ApprovalId::generate(clock, entropy), author.operator_actor().clone());
    let new = Approval::request(id, business, action, requester, clock.now());
    approvals::lock(conn).await?;
    if let Some(open) = approvals::find_same(conn, &new).await? {
        return Ok(open);
    }
    let own = approvals::count_open(conn, Some(&new.requester), clock.now()).await?;
    if own >= OPEN_OWN_MAX || approvals::count_open(conn, None, clock.now()).await? >= OPEN_MAX {
        return Err(RequestApprovalError::TooMany);
    }
    approvals::insert(conn, &new).await?;
    let event = event(Action::ApprovalRequested, &new);
    write_operator_audit(conn, (clock, entropy), business, author, &event).await?;
    tracing::info!(approval_id = %id, kind = %new.kind(), business_id = business.map(tracing::field::display), "approval requested");
    Ok(new)
}

/// Ends the requests to lift a suspension that has ended, except the one that is executed.
pub(crate) async fn end_lifts(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
    except: Option<ApprovalId>,
    author: &Author,
) -> Result<(), StoreError> {
    for waiting in approvals::waiting_lifts(conn, business, except).await? {
        end_outdated(conn, state, author, waiting).await?;
    }
    Ok(())
}

/// Ends a request whose suspension has ended.
pub(crate) async fn end_outdated(
    conn: &mut AsyncPgConnection,
    state: &State,
    author: &Author,
    waiting: Approval,
) -> Result<Approval, StoreError> {
    let ended = waiting.outdated(state.unit.clock.now());
    approvals::update(conn, &ended).await?;
    let event = event(Action::ApprovalFailed, &ended).with("reason", ended.outcome.as_deref());
    let parts = (&state.unit.clock, &state.unit.entropy);
    write_operator_audit(conn, parts, ended.business, author, &event).await?;
    Ok(ended)
}

/// An entry of the operator's log about a request.
pub(crate) fn event(action: Action, approval: &Approval) -> AuditEvent {
    let event = AuditEvent::new(action)
        .on(Target::new(TargetKind::Approval, approval.id))
        .with("kind", <&str>::from(approval.kind()));
    let is_decision = matches!(action, Action::ApprovalApproved | Action::ApprovalRejected);
    let reason = approval.decision.as_ref().and_then(|decision| decision.reason.as_deref());
    let event = match reason.filter(|_| is_decision) {
        Some(reason) => event.with("reason", reason),
        None => event,
    };
    match &approval.action {
        ProtectedAction::Credit { amount_paise, reference } => {
            event.with("amountPaise", amount_paise.get()).with("reference", reference.as_str())
        }
        ProtectedAction::Debit(debit) => debit.describe(event),
        ProtectedAction::RaiseLimit { credits_above_paise } => {
            event.with("toPaise", credits_above_paise.map(Paise::get))
        }
        ProtectedAction::IssueResetLink { user_id } => event.with("userId", user_id.to_string()),
        ProtectedAction::LiftSuspension(_) => event,
    }
}
