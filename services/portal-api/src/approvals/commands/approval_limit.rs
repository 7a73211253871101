//! The amount above which credits and debits of wallets need a second person. Administrators choose it in the console, but never
//! above the setting.

use diesel_async::AsyncPgConnection;
use domain::Paise;
use postgres::StoreError;

use crate::approvals::domain::ApprovalPolicy;
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

pub(crate) async fn set(state: &State, author: &Author, limit: Paise) -> Result<(), ApprovalLimitError> {
    if let Some(setting) = state.approvals.credits_above.filter(|setting| limit > *setting) {
        return Err(ApprovalLimitError::AboveSetting(setting));
    }
    let parts = (&state.unit.clock, &state.unit.entropy);
    let database = &state.unit.database;
    database
        .transaction(async |conn: &mut AsyncPgConnection| {
            staff::lock(conn).await?;
            if !still_may(conn, state, author.operator_actor(), OperatorPermission::ManageStaff).await? {
                return Err(ApprovalLimitError::NotAdministrator);
            }
            let before = effective(state.approvals, approval_limit::find(conn).await?).credits_above;
            approval_limit::set(conn, limit, state.unit.clock.now()).await?;
            let event = AuditEvent::new(Action::ApprovalLimitChanged)
                .with("fromPaise", before.map(Paise::get))
                .with("toPaise", limit.get());
            Ok(write_operator_audit(conn, parts, None, author, &event).await?)
        })
        .await
}
