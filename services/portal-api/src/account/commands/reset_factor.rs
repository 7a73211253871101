//! Resets: an owner or the operator removes the second factor of a user who has lost it, and an administrator that of a person
//! of the staff. All sessions of the person end.

use domain::{BusinessId, StaffId, UserId};
use identity::{Account, accounts, second_factors, sessions};
use postgres::StoreError;

use crate::account::commands::factor_code::{Holder, mail_holder};
use crate::audit::commands::audit::{write_account_audit, write_operator_audit};
use crate::audit::domain::{Action, Actor, AuditEvent, Author, Target};
use crate::console::commands::staff::lock_administrator;
use crate::mail::FactorNews;
use crate::state::State;
use crate::store::email_confirmations::{self, Changes};
use crate::store::{businesses, memberships, staff, user_accounts};
use crate::team::commands::owners::is_still_owner;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ResetFactorError {
    #[error("the author is no longer an owner")]
    NotOwner,
    #[error("the author is no longer an administrator")]
    NotAdministrator,
    #[error("there is no such person")]
    Unknown,
    #[error("the person has no second factor")]
    NotEnrolled,
    #[error("the second factor also protects other businesses, whose owners are others")]
    OfSeveralBusinesses,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// By an owner of the business, or by the operator.
pub(crate) async fn of_user(
    state: &State,
    business: BusinessId,
    author: &Author,
    user: UserId,
) -> Result<(), ResetFactorError> {
    let now = state.unit.clock.now();
    let reset: Result<(), ResetFactorError> = state
        .unit
        .database
        .transaction(async |conn| {
            businesses::find_for_update(conn, business).await?.ok_or(ResetFactorError::Unknown)?;
            if !is_still_owner(conn, business, author).await? {
                return Err(ResetFactorError::NotOwner);
            }
            // Locks the account before the factor, as log-ins and joins do.
            let id = memberships::account_of(conn, (business, user)).await?;
            let id = id.ok_or(ResetFactorError::Unknown)?;
            accounts::lock(conn, id).await?;
            let found = user_accounts::of(conn, id).await?.ok_or(ResetFactorError::Unknown)?;
            let account = Account::User(id);
            // Otherwise the owner of one business could weaken the protection of another one.
            let is_owner = matches!(author.actor, Actor::User { .. });
            if is_owner && memberships::list(conn, id).await?.len() > 1 {
                return Err(ResetFactorError::OfSeveralBusinesses);
            }
            sessions::end_all(conn, id.into(), None, now).await?;
            email_confirmations::remove_changes(conn, id, Changes::All).await?;
            if !second_factors::remove(conn, account).await? {
                return Err(ResetFactorError::NotEnrolled);
            }
            let event = AuditEvent::new(Action::SecondFactorReset).on(Target::account(account, &found.email));
            write_account_audit(conn, state, id, author, &event).await?;
            let holder = Holder { account, email: found.email };
            Ok(mail_holder(conn, state, &holder, FactorNews::Reset).await?)
        })
        .await;
    reset?;
    state.mailbox.wake_sender();
    tracing::info!(business_id = %business, user_id = %user, "second factor reset");
    Ok(())
}

/// By an administrator.
pub(crate) async fn of_staff(state: &State, author: &Author, id: StaffId) -> Result<(), ResetFactorError> {
    let account = Account::Staff(id);
    let parts = (&state.unit.clock, &state.unit.entropy);
    let reset: Result<(), ResetFactorError> = state
        .unit
        .database
        .transaction(async |conn| {
            if !lock_administrator(conn, author).await? {
                return Err(ResetFactorError::NotAdministrator);
            }
            let person = staff::find(conn, id).await?.ok_or(ResetFactorError::Unknown)?;
            if !second_factors::remove(conn, account).await? {
                return Err(ResetFactorError::NotEnrolled);
            }
            sessions::end_all(conn, id.into(), None, parts.0.now()).await?;
            let event =
                AuditEvent::new(Action::SecondFactorReset).on(Target::account(account, &person.email));
            write_operator_audit(conn, parts, None, author, &event).await?;
            let holder = Holder { account, email: person.email };
            Ok(mail_holder(conn, state, &holder, FactorNews::Reset).await?)
        })
        .await;
    reset?;
    state.mailbox.wake_sender();
    tracing::info!(staff_id = %id, "second factor of a person of the staff reset");
    Ok(())
}
