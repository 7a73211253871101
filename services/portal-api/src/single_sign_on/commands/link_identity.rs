//! An owner links a user whom single sign-on has created to an older user of the business. A provider that does not verify addresses
//! makes a new user of everybody.

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, UserId};
use identity::single_sign_on::identities;
use postgres::StoreError;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::domain::User;
use crate::state::State;
use crate::store::{memberships, users};
use crate::team::commands::change_user::{self, ChangeUserError, lock_and_find};

#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkIdentityError {
    #[error("the user was not created by single sign-on")]
    HasPassword,
    #[error("the other user has an identity of this provider already")]
    AlreadyLinked,
    #[error(transparent)]
    Change(#[from] ChangeUserError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The identity of `created` becomes that of `user`, and `created` is removed. Returns the user.
pub(crate) async fn link_identity(
    state: &State,
    business: BusinessId,
    author: &Author,
    (created, user): (UserId, UserId),
) -> Result<User, LinkIdentityError> {
    let linked: Result<User, LinkIdentityError> = state
        .unit
        .database
        .transaction(async |conn| {
            let created = lock_and_find(conn, business, author, created).await?;
            let user = users::find(conn, business, user).await?.ok_or(ChangeUserError::Unknown)?;
            if created.has_password || created.id == user.id {
                return Err(LinkIdentityError::HasPassword);
            }
            let account = async |conn: &mut AsyncPgConnection, user| {
                memberships::account_of(conn, (business, user)).await?.ok_or(ChangeUserError::Unknown)
            };
            let accounts = (account(conn, created.id).await?, account(conn, user.id).await?);
            if !identities::move_all(conn, business, accounts).await? {
                return Err(LinkIdentityError::AlreadyLinked);
            }
            change_user::apply_removal(conn, state, (business, author), &created).await?;
            let event = AuditEvent::new(Action::UserIdentityLinked)
                .on(Target::new(TargetKind::User, user.id).labelled(&user.email))
                .with("from", created.email.as_str());
            write_audit(conn, state, business, author, &event).await?;
            Ok(user)
        })
        .await;
    let user = linked?;
    tracing::info!(business_id = %business, user_id = %user.id, removed = %created, "identity linked by an owner");
    Ok(user)
}
