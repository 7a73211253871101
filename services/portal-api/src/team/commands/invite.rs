//! An owner invites somebody with a link, or withdraws an invitation.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Email, InvitationId};
use identity::LinkToken;
use identity::attempts::{self, Admission};
use postgres::StoreError;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::domain::BusinessStatus;
use crate::domain::{Invitation, Role, Session, limits};
use crate::mail::Mail;
use crate::state::State;
use crate::store::{businesses, users};
use crate::team::commands::owners::is_still_owner;
use crate::team::store::invitations;

/// The link expires after this time.
const VALID_FOR: TimeDelta = TimeDelta::days(7);
/// Open invitations of one business.
const OPEN_MAX: i64 = 50;

#[derive(Debug, thiserror::Error)]
pub(crate) enum InviteError {
    #[error("the author is no longer an owner")]
    NotOwner,
    #[error("the author's e-mail address is not verified")]
    EmailNotVerified,
    #[error("the invited person is already a user of the business")]
    AlreadyMember,
    #[error("too many invitations are open")]
    TooManyOpen,
    #[error("too many invitations were sent")]
    TooMany { wait: TimeDelta },
    #[error("the business is not active")]
    NotApproved,
    #[error("the business no longer exists")]
    UnknownBusiness,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the invitation with the token of its link, of which only the digest is stored. The token is for the inviter only if no
/// mails are sent. Does not reveal whether the e-mail address has an account with another business.
pub(crate) async fn invite(
    state: &State,
    session: &Session,
    author: &Author,
    email: Email,
    role: Role,
) -> Result<(Invitation, Option<LinkToken>), InviteError> {
    let now = state.unit.clock.now();
    let (business, token) = (session.business, LinkToken::generate(&state.unit.entropy));
    let invitation = Invitation {
        id: InvitationId::generate(&state.unit.clock, &state.unit.entropy),
        business,
        email,
        role,
        invited_by: session.user,
        invited_by_email: session.email.clone(),
        created_at: now,
        expires_at: now + VALID_FOR,
        mailed: state.mailbox.is_enabled,
    };
    let written: Result<(), InviteError> = state
        .unit
        .database
        .transaction(async |conn| {
            check(conn, session, author, &invitation, now).await?;
            invitations::replace(conn, &invitation, &token).await?;
            let event = AuditEvent::new(Action::UserInvited)
                .on(Target::new(TargetKind::Invitation, invitation.id).labelled(invitation.email.as_str()))
                .with("role", role.as_str());
            write_audit(conn, state, business, author, &event).await?;
            let mail = Mail::Invitation {
                business_name: &session.business_name,
                invited_by: &session.email,
                role,
                token: &token,
                expires_at: invitation.expires_at,
            };
            Ok(state.mailbox.queue(conn, business, invitation.email.as_str(), &mail, now).await?)
        })
        .await;
    written?;
    state.mailbox.wake_sender();
    tracing::info!(business_id = %business, user_id = %session.user, invitation_id = %invitation.id, "invitation sent");
    let passed_on = (!invitation.mailed).then_some(token);
    Ok((invitation, passed_on))
}

/// Locks the business, and checks whether it may send the invitation.
async fn check(
    conn: &mut AsyncPgConnection,
    session: &Session,
    author: &Author,
    invitation: &Invitation,
    now: DateTime<Utc>,
) -> Result<(), InviteError> {
    let (business, email) = (invitation.business, &invitation.email);
    let found = businesses::find_for_update(conn, business).await?;
    // Anybody can sign up. Without this check anybody could send mails to any address.
    if found.ok_or(InviteError::UnknownBusiness)?.status != BusinessStatus::Active {
        return Err(InviteError::NotApproved);
    }
    if !is_still_owner(conn, business, author).await? {
        return Err(InviteError::NotOwner);
    }
    // A mistyped or foreign address must not be the name under which others are invited.
    if invitation.mailed && !session.email_verified {
        return Err(InviteError::EmailNotVerified);
    }
    if users::find_by_email(conn, business, email).await?.is_some() {
        return Err(InviteError::AlreadyMember);
    }
    if invitations::count_others(conn, business, email, now).await? >= OPEN_MAX {
        return Err(InviteError::TooManyOpen);
    }
    let subjects = [limits::invitation_by(business), limits::invitation_to(email)];
    match attempts::admit(conn, &subjects, now).await? {
        Admission::Granted(_) => Ok(()),
        Admission::RetryAfter(wait) => Err(InviteError::TooMany { wait }),
    }
}

/// False if there is no such invitation.
pub(crate) async fn withdraw(
    state: &State,
    business: BusinessId,
    author: &Author,
    invitation: InvitationId,
) -> Result<bool, StoreError> {
    let database = &state.unit.database;
    database
        .transaction(async |conn| {
            let Some(withdrawn) = invitations::remove(conn, business, invitation).await? else {
                return Ok(false);
            };
            let target = Target::new(TargetKind::Invitation, invitation).labelled(withdrawn.email.as_str());
            let event = AuditEvent::new(Action::InvitationWithdrawn).on(target);
            write_audit(conn, state, business, author, &event).await?;
            Ok(true)
        })
        .await
}
