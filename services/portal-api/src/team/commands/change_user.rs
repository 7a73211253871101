//! An owner changes the role of a user, ends the sessions of a user, or removes a user. A business always keeps at least one owner.

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, UserId};
use postgres::StoreError;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::domain::{Role, User, UserKey};
use crate::state::State;
use crate::store::email_confirmations::{self, Changes};
use crate::store::{businesses, memberships, user_sessions, users};
use crate::team::commands::accept_invitation::USERS_MAX;
use crate::team::commands::owners::{is_still_owner, mail_other_owners};
use crate::team::store::invitations;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeUserError {
    #[error("the author is no longer an owner")]
    NotOwner,
    #[error("the business has no such user")]
    Unknown,
    #[error("the user is the last owner, or the last one with a password")]
    LastOwner,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the changed user. The role applies from the user's next call on. Demoting an owner withdraws their invitations.
pub(crate) async fn change_role(
    state: &State,
    business: BusinessId,
    author: &Author,
    user: UserId,
    role: Role,
) -> Result<User, ChangeUserError> {
    let changed: Result<User, ChangeUserError> = state
        .unit
        .database
        .transaction(async |conn| {
            let before = lock_and_find(conn, business, author, user).await?;
            if before.role == role {
                return Ok(before);
            }
            let event = AuditEvent::new(Action::UserRoleChanged);
            apply_role(conn, state, (business, author), event, before, role).await
        })
        .await;
    let changed = changed?;
    state.mailbox.wake_sender();
    tracing::info!(business_id = %business, user_id = %user, %role, "role changed");
    Ok(changed)
}

/// Within the caller's transaction, which has locked the business.
pub(crate) async fn apply_role(
    conn: &mut AsyncPgConnection,
    state: &State,
    (business, author): (BusinessId, &Author),
    event: AuditEvent,
    before: User,
    role: Role,
) -> Result<User, ChangeUserError> {
    require_another_owner(conn, business, &before).await?;
    users::set_role(conn, business, before.id, role).await?;
    if before.role == Role::Owner {
        invitations::remove_sent_by(conn, business, before.id).await?;
    }
    let event = event
        .on(Target::new(TargetKind::User, before.id).labelled(&before.email))
        .with("from", before.role.as_str())
        .with("to", role.as_str());
    write_audit(conn, state, business, author, &event).await?;
    if role == Role::Owner {
        mail_other_owners(conn, state, business, &before.email).await?;
    }
    Ok(User { role, ..before })
}

/// Ends all sessions of the user in this business, and returns how many. The person's sessions in other businesses stay.
pub(crate) async fn end_sessions(
    state: &State,
    business: BusinessId,
    author: &Author,
    user: UserId,
) -> Result<usize, ChangeUserError> {
    let now = state.unit.clock.now();
    let ended: Result<usize, ChangeUserError> = state
        .unit
        .database
        .transaction(async |conn| {
            let holder = lock_and_find(conn, business, author, user).await?;
            let ended = user_sessions::end_in_business(conn, (business, user), now).await?;
            remove_requested_changes(conn, (business, user)).await?;
            if ended > 0 {
                let event = AuditEvent::new(Action::SessionRevoked)
                    .on(Target::new(TargetKind::User, user).labelled(&holder.email))
                    .with("sessions", ended);
                write_audit(conn, state, business, author, &event).await?;
            }
            Ok(ended)
        })
        .await;
    let ended = ended?;
    tracing::info!(business_id = %business, user_id = %user, sessions = ended, "sessions of a user ended");
    Ok(ended)
}

/// Ends the user's sessions in this business, and withdraws the invitations that they sent. The person stays in other businesses.
pub(crate) async fn remove_user(
    state: &State,
    business: BusinessId,
    author: &Author,
    user: UserId,
) -> Result<(), ChangeUserError> {
    let removed: Result<(), ChangeUserError> = state
        .unit
        .database
        .transaction(async |conn| {
            let before = lock_and_find(conn, business, author, user).await?;
            apply_removal(conn, state, (business, author), &before).await
        })
        .await;
    removed?;
    tracing::info!(business_id = %business, user_id = %user, "user removed");
    Ok(())
}

/// Within the caller's transaction, which has locked the business.
pub(crate) async fn apply_removal(
    conn: &mut AsyncPgConnection,
    state: &State,
    (business, author): (BusinessId, &Author),
    before: &User,
) -> Result<(), ChangeUserError> {
    let user = before.id;
    require_another_owner(conn, business, before).await?;
    take_out(conn, (business, user)).await?;
    let event = AuditEvent::new(Action::UserRemoved)
        .on(Target::new(TargetKind::User, user).labelled(&before.email))
        .with("role", before.role.as_str());
    Ok(write_audit(conn, state, business, author, &event).await?)
}

/// Removes all users of a business that is erased, also its owners. Within the caller's transaction, which has locked the business.
pub(crate) async fn remove_everybody(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<(), ChangeUserError> {
    let max = usize::try_from(USERS_MAX).unwrap_or(usize::MAX);
    for user in users::list(conn, business, max, None).await?.unwrap_or_default() {
        take_out(conn, (business, user.id)).await?;
    }
    Ok(())
}

async fn take_out(conn: &mut AsyncPgConnection, (business, user): UserKey) -> Result<(), ChangeUserError> {
    users::lock(conn, (business, user)).await?;
    remove_requested_changes(conn, (business, user)).await?;
    user_sessions::remove_all(conn, (business, user)).await?;
    invitations::remove_sent_by(conn, business, user).await?;
    Ok(users::remove(conn, business, user).await?)
}

/// A thief may have requested a change of the account's address in a session that ends here.
async fn remove_requested_changes(
    conn: &mut AsyncPgConnection,
    user: UserKey,
) -> Result<(), ChangeUserError> {
    let account = memberships::account_of(conn, user).await?.ok_or(ChangeUserError::Unknown)?;
    let theirs = Changes::OfUser(user);
    Ok(email_confirmations::remove_changes(conn, account, theirs).await?)
}

/// Locks the business, so that of two owners who demote each other only one succeeds, and finds the user.
pub(crate) async fn lock_and_find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    author: &Author,
    user: UserId,
) -> Result<User, ChangeUserError> {
    businesses::find_for_update(conn, business).await?.ok_or(ChangeUserError::Unknown)?;
    if !is_still_owner(conn, business, author).await? {
        return Err(ChangeUserError::NotOwner);
    }
    users::find(conn, business, user).await?.ok_or(ChangeUserError::Unknown)
}

async fn require_another_owner(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    leaving: &User,
) -> Result<(), ChangeUserError> {
    if leaving.role == Role::Owner && !users::has_other_owner(conn, business, leaving.id).await? {
        return Err(ChangeUserError::LastOwner);
    }
    Ok(())
}
