//! A person with an account gets a further business: with an invitation, or by creating one.

use chrono::TimeDelta;
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, UserId};
use identity::{LinkToken, accounts};
use postgres::StoreError;

use crate::account::commands::confirm_email::verify;
use crate::account::commands::open_session::{ReplacedSession, replace_session};
use crate::account::commands::sign_up::{self, insert_business, ownership};
use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::domain::{Role, Session, UserAccount};
use crate::state::State;
use crate::store::memberships::{self, NewMembership};
use crate::store::user_accounts;
use crate::team::commands::accept_invitation::{self, AcceptInvitationError};

/// Businesses of one person.
const BUSINESSES_MAX: usize = 20;

#[derive(Debug, thiserror::Error)]
pub(crate) enum JoinError {
    #[error(transparent)]
    Invitation(#[from] AcceptInvitationError),
    #[error("the invitation is for another address")]
    OtherAccount,
    #[error("the person already belongs to the business")]
    AlreadyMember,
    #[error("the person belongs to the maximum number of businesses")]
    TooManyBusinesses,
    #[error("too many businesses were created from this address")]
    TooManyCreated { wait: TimeDelta },
    #[error("the session has ended")]
    SessionEnded,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Consumes an invitation to the address of the session's account, and continues in the business.
pub(crate) async fn join_business(
    state: &State,
    session: &Session,
    author: &Author,
    token: &LinkToken,
) -> Result<ReplacedSession, JoinError> {
    let (invitation, business_name) = accept_invitation::find(state, token).await?;
    let joined: Result<ReplacedSession, JoinError> = state
        .unit
        .database
        .transaction(async |conn| {
            accept_invitation::consume(conn, &invitation).await?;
            let mut account = lock_account(conn, session).await?;
            if !account.email_is(&invitation.email) {
                return Err(JoinError::OtherAccount);
            }
            if invitation.mailed && !account.email_verified {
                verify(conn, state, &account, author).await?;
                account.email_verified = true;
            }
            accept_invitation::require_password_log_in(conn, state, &invitation).await?;
            let user = add(conn, state, &account, (invitation.business, invitation.role)).await?;
            let membership = accept_invitation::membership(&invitation, business_name.clone(), user);
            let here = Author::user(user, &account.email, author.request).at(author.address.clone());
            accept_invitation::record(conn, state, &invitation, &here, account.email_verified).await?;
            let session = Session { email_verified: account.email_verified, ..session.clone() };
            let replaced = replace_session(conn, state, &session, membership, author).await?;
            replaced.ok_or(JoinError::SessionEnded)
        })
        .await;
    let joined = joined?;
    state.mailbox.wake_sender();
    tracing::info!(
        business_id = %invitation.business,
        user_id = %joined.session.user,
        invitation_id = %invitation.id,
        "business joined with an invitation"
    );
    Ok(joined)
}

/// Creates a business whose owner is the person of the session, and continues in it. Limited as sign-ups are.
pub(crate) async fn create_business(
    state: &State,
    session: &Session,
    author: &Author,
    name: &str,
) -> Result<ReplacedSession, JoinError> {
    if let Some(wait) = sign_up::count(state, author.address.as_ref()).await? {
        return Err(JoinError::TooManyCreated { wait });
    }
    let created: Result<ReplacedSession, JoinError> = state
        .unit
        .database
        .transaction(async |conn| {
            let account = lock_account(conn, session).await?;
            let business = insert_business(conn, state, name).await?;
            let user = add(conn, state, &account, (business.id, Role::Owner)).await?;
            let here = Author::user(user, &account.email, author.request).at(author.address.clone());
            let target = Target::new(TargetKind::Business, business.id);
            let event = AuditEvent::new(Action::AccountCreated).on(target);
            write_audit(conn, state, business.id, &here, &event).await?;
            let replaced = replace_session(conn, state, session, ownership(business, user), author).await?;
            replaced.ok_or(JoinError::SessionEnded)
        })
        .await;
    let created = created?;
    let (business_id, user_id) = (created.session.business, created.session.user);
    tracing::info!(%business_id, %user_id, "further business created");
    Ok(created)
}

async fn lock_account(conn: &mut AsyncPgConnection, session: &Session) -> Result<UserAccount, JoinError> {
    accounts::lock(conn, session.account).await?;
    let account = user_accounts::of(conn, session.account).await?;
    account.ok_or(JoinError::SessionEnded)
}

/// Adds a user for the locked account to the business.
async fn add(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: &UserAccount,
    (business, role): (BusinessId, Role),
) -> Result<UserId, JoinError> {
    let known = memberships::list(conn, account.account).await?;
    if known.iter().any(|membership| membership.business == business) {
        return Err(JoinError::AlreadyMember);
    }
    if known.len() >= BUSINESSES_MAX {
        return Err(JoinError::TooManyBusinesses);
    }
    let user = UserId::generate(&state.unit.clock, &state.unit.entropy);
    let created_at = state.unit.clock.now();
    let new = NewMembership { user, business, account: account.account, role, created_at };
    memberships::insert(conn, &new).await?;
    Ok(user)
}
