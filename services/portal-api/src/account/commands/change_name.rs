//! A person changes their own name, and an owner the name of the business.

use domain::BusinessId;
use identity::{Account, accounts};
use postgres::StoreError;

use crate::account::commands::own_account::OwnAccount;
use crate::audit::commands::audit::{write_audit, write_entry};
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::state::State;
use crate::store::businesses;
use crate::team::commands::owners::is_still_owner;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeNameError {
    #[error("the account no longer exists")]
    UnknownAccount,
    #[error("the author is no longer an owner")]
    NotOwner,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// `None` removes the name.
pub(crate) async fn of_account(
    state: &State,
    own: &OwnAccount,
    name: Option<&str>,
) -> Result<(), ChangeNameError> {
    let account = own.holder.account;
    let action = match account {
        Account::User(_) => Action::UserNameChanged,
        Account::Staff(_) => Action::StaffNameChanged,
    };
    let changed: Result<(), ChangeNameError> = state
        .unit
        .database
        .transaction(async |conn| {
            accounts::lock(conn, account).await?;
            let before = accounts::credentials(conn, account).await?;
            let before = before.ok_or(ChangeNameError::UnknownAccount)?;
            if before.name.as_deref() == name {
                return Ok(());
            }
            accounts::set_name(conn, account, name).await?;
            let event = AuditEvent::new(action)
                .on(Target::account(account, &before.email))
                .with("from", before.name)
                .with("to", name);
            Ok(write_entry(conn, state, account, own.author(), &event).await?)
        })
        .await;
    changed?;
    tracing::info!(account_id = %account, "name changed");
    Ok(())
}

pub(crate) async fn of_business(
    state: &State,
    business: BusinessId,
    author: &Author,
    name: &str,
) -> Result<(), ChangeNameError> {
    let changed: Result<(), ChangeNameError> = state
        .unit
        .database
        .transaction(async |conn| {
            let before = businesses::find_for_update(conn, business).await?;
            let before = before.ok_or(ChangeNameError::NotOwner)?;
            if !is_still_owner(conn, business, author).await? {
                return Err(ChangeNameError::NotOwner);
            }
            if before.name == name {
                return Ok(());
            }
            businesses::rename(conn, business, name, state.unit.clock.now()).await?;
            let event = AuditEvent::new(Action::BusinessRenamed)
                .on(Target::new(TargetKind::Business, business))
                .with("from", before.name)
                .with("to", name);
            Ok(write_audit(conn, state, business, author, &event).await?)
        })
        .await;
    changed?;
    tracing::info!(business_id = %business, "business renamed");
    Ok(())
}
