//! An owner invites somebody by a link, or withdraws the invitation.

use chrono::TimeDelta;
use domain::{BusinessId, InvitationId};
use postgres::StoreError;

use super::{is_still_owner, write_audit};
use crate::app::App;
use crate::domain::{
    Act, Action, Author, BusinessStatus, Email, LinkToken, Role, Session, Subject, Target, TargetKind,
};
use crate::mail::Letter;
use crate::store::attempts::{self, Allowed};
use crate::store::invitations::{self, Invitation};
use crate::store::{businesses, users};

/// How long the link is good.
const LASTS: TimeDelta = TimeDelta::days(7);
/// Open ones of a business.
const OPEN_MAX: i64 = 50;

#[derive(Debug, thiserror::Error)]
pub(crate) enum InviteError {
    #[error("the author is no owner any more")]
    NotOwner,
    #[error("they belong to the business already")]
    AlreadyMember,
    #[error("too many invitations are open")]
    TooManyOpen,
    #[error("too many invitations were sent")]
    TooMany { wait: TimeDelta },
    #[error("the business is not active")]
    NotApproved,
    #[error("the business is gone")]
    UnknownBusiness,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for InviteError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// The invitation with the secret of its link, which is known here and nowhere else. Whether the e-mail has an account
/// with another business is not told.
pub(crate) async fn invite(
    app: &App,
    session: &Session,
    author: &Author,
    email: Email,
    role: Role,
) -> Result<(Invitation, LinkToken), InviteError> {
    let now = app.clock.now();
    let (business, token) = (session.business, LinkToken::generate(&app.entropy));
    let invitation = Invitation {
        id: InvitationId::generate(&app.clock, &app.entropy),
        business,
        email,
        role,
        invited_by: session.user,
        invited_by_email: session.email.clone(),
        created_at: now,
        expires_at: now + LASTS,
    };
    let written: Result<(), InviteError> = app
        .database
        .transaction(async |conn| {
            let found = businesses::find_for_update(conn, business).await?;
            // Anybody may open an account, and each invitation is a mail to whomever they like.
            if found.ok_or(InviteError::UnknownBusiness)?.status != BusinessStatus::Active {
                return Err(InviteError::NotApproved);
            }
            if !is_still_owner(conn, business, author).await? {
                return Err(InviteError::NotOwner);
            }
            if users::find_by_email(conn, business, &invitation.email).await?.is_some() {
                return Err(InviteError::AlreadyMember);
            }
            if invitations::count_others(conn, business, &invitation.email, now).await? >= OPEN_MAX {
                return Err(InviteError::TooManyOpen);
            }
            let counted = [Subject::invitation_by(business), Subject::invitation_to(&invitation.email)];
            if let Allowed::After(wait) = attempts::begin(conn, &counted, now).await? {
                return Err(InviteError::TooMany { wait });
            }
            invitations::put(conn, &invitation, &token).await?;
            let act = Act::new(Action::UserInvited)
                .on(Target::new(TargetKind::Invitation, invitation.id).labelled(invitation.email.as_str()))
                .with("role", role.as_str());
            write_audit(conn, app, business, author, &act).await?;
            let letter = Letter::Invitation {
                business_name: &session.business_name,
                invited_by: &session.email,
                role,
                token: &token,
                expires_at: invitation.expires_at,
            };
            Ok(app.mailbox.post(conn, business, invitation.email.as_str(), &letter, now).await?)
        })
        .await;
    written?;
    app.mailbox.ring();
    tracing::info!(business_id = %business, user_id = %session.user, invitation_id = %invitation.id, "somebody was invited");
    Ok((invitation, token))
}

/// False when there is no such invitation.
pub(crate) async fn withdraw(
    app: &App,
    business: BusinessId,
    author: &Author,
    invitation: InvitationId,
) -> Result<bool, StoreError> {
    app.database
        .transaction(async |conn| {
            let Some(withdrawn) = invitations::remove(conn, business, invitation).await? else {
                return Ok(false);
            };
            let act =
                Act::new(Action::InvitationWithdrawn)
                    .on(Target::new(TargetKind::Invitation, invitation).labelled(withdrawn.email.as_str()));
            write_audit(conn, app, business, author, &act).await?;
            Ok(true)
        })
        .await
}
