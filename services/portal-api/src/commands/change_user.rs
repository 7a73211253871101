//! An owner gives somebody of their business another role, or removes them. There is always an owner left.

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, UserId};
use postgres::StoreError;

use super::{is_still_owner, tell_owners, write_audit};
use crate::app::App;
use crate::domain::{Act, Action, Author, Role, Target, TargetKind};
use crate::store::users::{self, User};
use crate::store::{businesses, invitations, sessions};

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeUserError {
    #[error("the author is no owner any more")]
    NotOwner,
    #[error("the business has no such user")]
    Unknown,
    #[error("the last owner stays one")]
    LastOwner,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for ChangeUserError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// The user as they are then. It counts from their next call on. The invitations of an owner who is demoted are withdrawn.
pub(crate) async fn change_role(
    app: &App,
    business: BusinessId,
    author: &Author,
    user: UserId,
    role: Role,
) -> Result<User, ChangeUserError> {
    let changed: Result<User, ChangeUserError> = app
        .database
        .transaction(async |conn| {
            let before = hold(conn, business, author, user).await?;
            if before.role == role {
                return Ok(before);
            }
            require_another_owner(conn, business, &before).await?;
            users::set_role(conn, business, user, role).await?;
            if before.role == Role::Owner {
                invitations::remove_sent_by(conn, business, user).await?;
            }
            let act = Act::new(Action::UserRoleChanged)
                .on(Target::new(TargetKind::User, user).labelled(&before.email))
                .with("from", before.role.as_str())
                .with("to", role.as_str());
            write_audit(conn, app, business, author, &act).await?;
            if role == Role::Owner {
                tell_owners(conn, app, business, &before.email).await?;
            }
            Ok(User { role, ..before })
        })
        .await;
    let changed = changed?;
    app.mailbox.ring();
    tracing::info!(business_id = %business, user_id = %user, %role, "a user was given a role");
    Ok(changed)
}

/// Their sessions end, and the invitations that they sent are withdrawn.
pub(crate) async fn remove_user(
    app: &App,
    business: BusinessId,
    author: &Author,
    user: UserId,
) -> Result<(), ChangeUserError> {
    let removed: Result<(), ChangeUserError> = app
        .database
        .transaction(async |conn| {
            let before = hold(conn, business, author, user).await?;
            require_another_owner(conn, business, &before).await?;
            sessions::forget_user(conn, (business, user)).await?;
            invitations::remove_sent_by(conn, business, user).await?;
            users::remove(conn, business, user).await?;
            let act = Act::new(Action::UserRemoved)
                .on(Target::new(TargetKind::User, user).labelled(&before.email))
                .with("role", before.role.as_str());
            write_audit(conn, app, business, author, &act).await?;
            Ok(())
        })
        .await;
    removed?;
    tracing::info!(business_id = %business, user_id = %user, "a user was removed");
    Ok(())
}

/// The user, with the business's row locked: of two owners who demote each other at the same time one comes second.
async fn hold(
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
    if leaving.role == Role::Owner && users::count_owners(conn, business).await? <= 1 {
        return Err(ChangeUserError::LastOwner);
    }
    Ok(())
}
