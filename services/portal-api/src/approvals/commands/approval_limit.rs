//! The amount above which credits and debits of wallets need a second person. Administrators choose it in the console, but never
//! above the setting. One alone lowers it; a second one approves a higher limit.

use diesel_async::AsyncPgConnection;
use domain::Paise;
use postgres::StoreError;

use crate::approvals::commands::request_approval::{RequestApprovalError, request};
use crate::approvals::domain::{Approval, ApprovalPolicy, ProtectedAction};
use crate::approvals::store::approval_limit;
use crate::audit::commands::audit::write_operator_audit;
use crate::audit::domain::{Action, AuditEvent, Author};
use crate::console::commands::staff::still_may;
use crate::domain::OperatorPermission;
use crate::state::State;
use crate::store::staff;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ApprovalLimitError {
    #[error("the limit exceeds the setting, {0} paise")]
    AboveSetting(Paise),
    #[error("the author is no longer an administrator")]
    NotAdministrator,
    #[error(transparent)]
    Approval(#[from] RequestApprovalError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The calls that need a second person now.
pub(crate) async fn policy(state: &State) -> Result<ApprovalPolicy, StoreError> {
    let chosen = state.unit.database.read(approval_limit::find).await?;
    Ok(effective(state.approvals, chosen))
}

fn effective(setting: ApprovalPolicy, chosen: Option<Paise>) -> ApprovalPolicy {
    let credits_above = setting.credits_above.into_iter().chain(chosen).min();
    ApprovalPolicy { credits_above, ..setting }
}

/// Sets the limit, or requests the approval for a higher one. `None` removes it, so that the setting applies.
pub(crate) async fn set(
    state: &State,
    author: &Author,
    limit: Option<Paise>,
) -> Result<Option<Approval>, ApprovalLimitError> {
    if let (Some(setting), Some(limit)) = (state.approvals.credits_above, limit)
        && limit > setting
    {
        return Err(ApprovalLimitError::AboveSetting(setting));
    }
    let database = &state.unit.database;
    database
        .transaction(async |conn: &mut AsyncPgConnection| {
            staff::lock(conn).await?;
            if !still_may(conn, state, author.operator_actor(), OperatorPermission::ManageStaff).await? {
                return Err(ApprovalLimitError::NotAdministrator);
            }
            let before = effective(state.approvals, approval_limit::find(conn).await?);
            if before.is_raised_by(&effective(state.approvals, limit)) {
                let action = ProtectedAction::RaiseLimit { credits_above_paise: limit };
                return Ok(Some(request(conn, state, None, author, action).await?));
            }
            change(conn, state, author, limit).await?;
            Ok(None)
        })
        .await
}

/// Changes the limit. The caller has locked the staff, which serializes changes.
pub(crate) async fn change(
    conn: &mut AsyncPgConnection,
    state: &State,
    author: &Author,
    limit: Option<Paise>,
) -> Result<(), StoreError> {
    let paise = |limit| effective(state.approvals, limit).credits_above.map(Paise::get);
    let before = approval_limit::find(conn).await?;
    approval_limit::set(conn, limit, state.unit.clock.now()).await?;
    let event = AuditEvent::new(Action::ApprovalLimitChanged)
        .with("fromPaise", paise(before))
        .with("toPaise", paise(limit));
    write_operator_audit(conn, (&state.unit.clock, &state.unit.entropy), None, author, &event).await
}
