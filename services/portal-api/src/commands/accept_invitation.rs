//! Somebody who was invited opens their account, with the link that they were sent.

use diesel_async::AsyncPgConnection;
use domain::{RequestId, UserId};
use postgres::StoreError;

use super::start_session::{Browser, Holder, Opened, start_session};
use super::{tell_owners, write_audit};
use crate::app::App;
use crate::domain::{Act, Action, Author, LinkToken, Password, Role, Target, TargetKind};
use crate::passwords::PasswordError;
use crate::store::businesses;
use crate::store::invitations::{self, Invitation};
use crate::store::users::{self, NewUser};
use crate::turns::Who;

/// People of one business.
const USERS_MAX: i64 = 200;

pub(crate) struct Accept {
    pub(crate) token: LinkToken,
    pub(crate) password: Password,
    pub(crate) browser: Browser,
    pub(crate) request: Option<RequestId>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum AcceptError {
    #[error("the link was used, has expired, or never was one")]
    Invalid,
    #[error("the e-mail has an account already")]
    EmailTaken,
    #[error("the business has as many users as it can have")]
    TooManyUsers,
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for AcceptError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// The invitation behind a link, and the name of its business.
pub(crate) async fn look_up(
    app: &App,
    token: &LinkToken,
) -> Result<Option<(Invitation, String)>, StoreError> {
    let now = app.clock.now();
    app.database.read(async |conn| invitations::find(conn, token, now).await).await
}

/// Uses up the invitation, creates the user and opens a session for them.
pub(crate) async fn accept(app: &App, request: Accept) -> Result<Opened, AcceptError> {
    // Looked up first, so that nobody has passwords hashed without a good link.
    let (invitation, business_name) = look_up(app, &request.token).await?.ok_or(AcceptError::Invalid)?;
    let who = Who { address: String::new(), account: invitation.email.key() };
    let password_hash = app.passwords.hash(&request.password, who).await?;
    let opened: Result<Opened, AcceptError> = app
        .database
        .transaction(async |conn| {
            let holder = join(conn, app, &invitation, business_name.clone(), &password_hash).await?;
            let author = Author::user(holder.user, &holder.email, request.request);
            let act = Act::new(Action::UserJoined)
                .on(Target::new(TargetKind::User, holder.user).labelled(&holder.email))
                .with("role", holder.role.as_str())
                .with("invitationId", invitation.id.to_string());
            write_audit(conn, app, invitation.business, &author, &act).await?;
            if holder.role == Role::Owner {
                tell_owners(conn, app, invitation.business, &holder.email).await?;
            }
            Ok(start_session(conn, app, holder, &request.browser).await?)
        })
        .await;
    let opened = opened?;
    app.mailbox.ring();
    tracing::info!(
        business_id = %opened.session.business,
        user_id = %opened.session.user,
        invitation_id = %invitation.id,
        "somebody who was invited joined"
    );
    Ok(opened)
}

async fn join(
    conn: &mut AsyncPgConnection,
    app: &App,
    invitation: &Invitation,
    business_name: String,
    password_hash: &str,
) -> Result<Holder, AcceptError> {
    let now = app.clock.now();
    let business = invitation.business;
    businesses::find_for_update(conn, business).await?.ok_or(AcceptError::Invalid)?;
    // Somebody else may have used or withdrawn it since, or it was replaced.
    invitations::remove(conn, business, invitation.id).await?.ok_or(AcceptError::Invalid)?;
    // Only an owner's word lets somebody in, and the inviter may be none any more.
    if !users::is_owner(conn, business, invitation.invited_by).await? {
        return Err(AcceptError::Invalid);
    }
    if users::count(conn, business).await? >= USERS_MAX {
        return Err(AcceptError::TooManyUsers);
    }
    let user = NewUser {
        id: UserId::generate(&app.clock, &app.entropy),
        business,
        email: &invitation.email,
        password_hash,
        role: invitation.role,
        created_at: now,
    };
    if !users::insert(conn, &user).await? {
        return Err(AcceptError::EmailTaken);
    }
    Ok(Holder {
        user: user.id,
        email: invitation.email.as_str().to_owned(),
        role: invitation.role,
        business,
        business_name,
        password_hash: password_hash.to_owned(),
    })
}
