//! An invited person without an account accepts with the link that they received. People with an account join in
//! `account/commands/join_business.rs`.

use diesel_async::AsyncPgConnection;
use domain::{AccountId, RequestId, UserId};
use identity::LinkToken;
use identity::accounts::{LogInBy, NewAccount};
use identity::passwords::{Password, PasswordError, Requester};
use postgres::StoreError;

use crate::account::commands::create_account;
use crate::account::commands::open_session::{OpenedSession, open_with_new_password};
use crate::account::commands::visitor::Browser;
use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, Actor, AuditEvent, Author, Target, TargetKind};
use crate::business::domain::BusinessStatus;
use crate::domain::{Invitation, Membership, Role, UserAccount};
use crate::single_sign_on::commands::sso_required::{self, SsoRequiredError};
use crate::state::State;
use crate::store::{businesses, closings, users};
use crate::team::commands::owners::mail_other_owners;
use crate::team::store::invitations;

/// Users of one business.
pub(crate) const USERS_MAX: i64 = 200;

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
    #[error("the business is not active")]
    NotActive,
    #[error("the business is closed")]
    Closed,
    #[error("the e-mail address already has an account")]
    EmailTaken,
    #[error("the password is the e-mail address")]
    LikeEmail,
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
    let (invitation, _) = find(state, &request.token).await?;
    if request.password.is_like(&invitation.email) {
        return Err(AcceptInvitationError::LikeEmail);
    }
    let requester = Requester::Known(invitation.email.key());
    let password_hash = state.passwords.hash(&request.password, requester).await?;
    let database = &state.unit.database;
    let accepted: Result<(UserId, OpenedSession), AcceptInvitationError> = database
        .transaction(async |conn| {
            consume(conn, &invitation).await?;
            require_password_log_in(conn, state, &invitation).await?;
            let user = create(conn, state, &invitation, &password_hash).await?;
            let author =
                Author::user(user.user, &user.email, request.request).at(request.browser.address.clone());
            record(conn, state, &invitation, &author, user.email_verified).await?;
            let (by, key) = ((user.account.into(), password_hash.as_str()), Some((user.business, user.user)));
            let opened = open_with_new_password(conn, state, by, key, &request.browser).await?;
            Ok((user.user, opened))
        })
        .await;
    let (user_id, opened) = accepted?;
    state.mailbox.wake_sender();
    tracing::info!(
        business_id = %invitation.business,
        %user_id,
        invitation_id = %invitation.id,
        "invitation accepted"
    );
    Ok(opened)
}

/// The invitation of a link, with the name of its business, if it can be used now.
pub(crate) async fn find(
    state: &State,
    token: &LinkToken,
) -> Result<(Invitation, String), AcceptInvitationError> {
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    let found = database.read(async |conn| invitations::find(conn, token, now).await).await;
    let found: Option<(Invitation, String, BusinessStatus)> = found?;
    match found {
        None => Err(AcceptInvitationError::Invalid),
        Some((.., status)) if status != BusinessStatus::Active => Err(AcceptInvitationError::NotActive),
        Some((invitation, business_name, _)) => Ok((invitation, business_name)),
    }
}

/// Locks the business, and uses the invitation up, if it may still be used.
pub(crate) async fn consume(
    conn: &mut AsyncPgConnection,
    invitation: &Invitation,
) -> Result<(), AcceptInvitationError> {
    let business = businesses::find_for_update(conn, invitation.business).await?;
    if business.ok_or(AcceptInvitationError::Invalid)?.status != BusinessStatus::Active {
        return Err(AcceptInvitationError::NotActive);
    }
    // The invitation may be older than the closing.
    if closings::is_closed(conn, invitation.business).await? {
        return Err(AcceptInvitationError::Closed);
    }
    // It may have been accepted, withdrawn or replaced since.
    let removed = invitations::remove(conn, invitation.business, invitation.id).await?;
    removed.ok_or(AcceptInvitationError::Invalid)?;
    // Only owners may invite, and the inviter may have lost the role since.
    if !users::is_owner(conn, invitation.business, invitation.invited_by).await? {
        return Err(AcceptInvitationError::Invalid);
    }
    if users::count(conn, invitation.business).await? >= USERS_MAX {
        return Err(AcceptInvitationError::TooManyUsers);
    }
    Ok(())
}

/// Refuses roles that log in with single sign-on only.
pub(crate) async fn require_password_log_in(
    conn: &mut AsyncPgConnection,
    state: &State,
    invitation: &Invitation,
) -> Result<(), AcceptInvitationError> {
    Ok(sso_required::check(conn, state, invitation.business, invitation.role).await?)
}

/// Writes that the author has joined, and informs the owners about a new one.
pub(crate) async fn record(
    conn: &mut AsyncPgConnection,
    state: &State,
    invitation: &Invitation,
    author: &Author,
    email_verified: bool,
) -> Result<(), StoreError> {
    let Actor::User { id, email } = &author.actor else { return Ok(()) };
    let event = AuditEvent::new(Action::UserJoined)
        .on(Target::new(TargetKind::User, id).labelled(email))
        .with("role", invitation.role.as_str())
        .with("invitationId", invitation.id.to_string())
        .with("emailVerified", email_verified);
    write_audit(conn, state, invitation.business, author, &event).await?;
    if invitation.role == Role::Owner {
        mail_other_owners(conn, state, invitation.business, email).await?;
    }
    Ok(())
}

/// The membership that the invitation gives to this user.
pub(crate) fn membership(invitation: &Invitation, business_name: String, user: UserId) -> Membership {
    Membership {
        business: invitation.business,
        business_name,
        status: BusinessStatus::Active,
        closing: false,
        closed: false,
        user,
        role: invitation.role,
    }
}

async fn create(
    conn: &mut AsyncPgConnection,
    state: &State,
    invitation: &Invitation,
    password_hash: &str,
) -> Result<UserAccount, AcceptInvitationError> {
    let account = NewAccount {
        id: AccountId::generate(&state.unit.clock, &state.unit.entropy),
        email: &invitation.email,
        email_verified_at: invitation.mailed.then_some(state.unit.clock.now()),
        name: None,
        log_in: LogInBy::Password(password_hash),
        created_at: state.unit.clock.now(),
    };
    let of = (invitation.business, invitation.role);
    create_account::with_membership(conn, state, &account, of).await?.ok_or(AcceptInvitationError::EmailTaken)
}
