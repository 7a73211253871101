//! A user changes their own name, and an owner the name of the business.

use domain::BusinessId;
use postgres::StoreError;

use super::audit::{write_account_audit, write_audit};
use super::owners::is_still_owner;
use crate::domain::{Action, AuditEvent, Author, Session, Target, TargetKind};
use crate::state::State;
use crate::store::{accounts, businesses};

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeNameError {
    #[error("the user no longer exists")]
    UnknownUser,
    #[error("the author is no longer an owner")]
    NotOwner,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// `None` removes the name.
pub(crate) async fn of_user(
    state: &State,
    session: &Session,
    author: &Author,
    name: Option<&str>,
) -> Result<(), ChangeNameError> {
    let (account, user) = (session.account, session.user);
    let changed: Result<(), ChangeNameError> = state
        .unit
        .database
        .transaction(async |conn| {
            accounts::lock(conn, account).await?;
            let before = accounts::credentials(conn, account).await?.ok_or(ChangeNameError::UnknownUser)?;
            if before.name.as_deref() == name {
                return Ok(());
            }
            accounts::set_name(conn, account, name).await?;
            let event = AuditEvent::new(Action::UserNameChanged)
                .on(Target::new(TargetKind::User, user).labelled(&before.email))
                .with("from", before.name)
                .with("to", name);
            Ok(write_account_audit(conn, state, account, author, &event).await?)
        })
        .await;
    changed?;
    tracing::info!(business_id = %session.business, user_id = %user, "name of a user changed");
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
