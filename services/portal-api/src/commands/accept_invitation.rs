//! An invited person accepts with the link that they received.

use diesel_async::AsyncPgConnection;
use domain::{RequestId, UserId};
use postgres::StoreError;

use super::audit::write_audit;
use super::open_session::{Browser, OpenedSession, open_session};
use super::owners::mail_other_owners;
use super::sso_required::{self, SsoRequiredError};
use crate::domain::{
    Action, AuditEvent, Author, Credentials, Invitation, LinkToken, Password, Role, Target, TargetKind,
};
use crate::passwords::{PasswordError, Requester};
use crate::state::State;
use crate::store::users::{self, NewCredential, NewUser};
use crate::store::{businesses, invitations};

/// Users of one business.
pub(super) const USERS_MAX: i64 = 200;

pub(crate) struct AcceptInvitation {
    pub(crate) token: LinkToken,
    pub(crate) password: Password,
    pub(crate) browser: Browser,
    pub(crate) request: Option<RequestId>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum AcceptInvitationError {
    #[error("the link is used, expired or invalid")]
    Invalid,
    #[error("the e-mail address already has an account")]
    EmailTaken,
    #[error("the business has the maximum number of users")]
    TooManyUsers,
    #[error(transparent)]
    Sso(#[from] SsoRequiredError),
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Consumes the invitation, creates the user and opens a session.
pub(crate) async fn accept_invitation(
    state: &State,
    request: AcceptInvitation,
) -> Result<OpenedSession, AcceptInvitationError> {
    // Checked before hashing the password, which is expensive.
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    let found = database.read(async |conn| invitations::find(conn, &request.token, now).await).await;
    let found: Option<(Invitation, String)> = found?;
    let (invitation, business_name) = found.ok_or(AcceptInvitationError::Invalid)?;
    let requester = Requester { address: String::new(), account: invitation.email.key() };
    let password_hash = state.passwords.hash(&request.password, requester).await?;
    let opened: Result<OpenedSession, AcceptInvitationError> = database
        .transaction(async |conn| {
            let user = join(conn, state, &invitation, business_name.clone(), &password_hash).await?;
            let author =
                Author::user(user.user, &user.email, request.request).at(request.browser.address.clone());
            let event = AuditEvent::new(Action::UserJoined)
                .on(Target::new(TargetKind::User, user.user).labelled(&user.email))
                .with("role", user.role.as_str())
                .with("invitationId", invitation.id.to_string())
                .with("emailVerified", user.email_verified);
            write_audit(conn, state, invitation.business, &author, &event).await?;
            if user.role == Role::Owner {
                mail_other_owners(conn, state, invitation.business, &user.email).await?;
            }
            Ok(open_session(conn, state, user, &request.browser).await?)
        })
        .await;
    let opened = opened?;
    state.mailbox.wake_sender();
    tracing::info!(
        business_id = %opened.session.business,
        user_id = %opened.session.user,
        invitation_id = %invitation.id,
        "invitation accepted"
    );
    Ok(opened)
}

async fn join(
    conn: &mut AsyncPgConnection,
    state: &State,
    invitation: &Invitation,
    business_name: String,
    password_hash: &str,
) -> Result<Credentials, AcceptInvitationError> {
    let (business, now) = (invitation.business, state.unit.clock.now());
    businesses::find_for_update(conn, business).await?.ok_or(AcceptInvitationError::Invalid)?;
    // It may have been accepted, withdrawn or replaced since.
    let removed = invitations::remove(conn, business, invitation.id).await?;
    removed.ok_or(AcceptInvitationError::Invalid)?;
    // Only owners may invite, and the inviter may have lost the role since.
    if !users::is_owner(conn, business, invitation.invited_by).await? {
        return Err(AcceptInvitationError::Invalid);
    }
    sso_required::check(conn, state, business, invitation.role).await?;
    if users::count(conn, business).await? >= USERS_MAX {
        return Err(AcceptInvitationError::TooManyUsers);
    }
    let user = NewUser {
        id: UserId::generate(&state.unit.clock, &state.unit.entropy),
        business,
        email: &invitation.email,
        email_verified_at: invitation.mailed.then_some(now),
        credential: NewCredential::Password { hash: password_hash },
        role: invitation.role,
        created_at: now,
    };
    if !users::insert(conn, &user).await? {
        return Err(AcceptInvitationError::EmailTaken);
    }
    Ok(Credentials {
        user: user.id,
        email: invitation.email.as_str().to_owned(),
        email_verified: invitation.mailed,
        name: None,
        role: invitation.role,
        business,
        business_name,
        password_hash: password_hash.to_owned(),
    })
}
