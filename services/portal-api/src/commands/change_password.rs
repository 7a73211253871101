//! A logged-in user changes their password. All their sessions end, in all businesses, and the current browser gets a new one.

use chrono::TimeDelta;
use postgres::StoreError;

use super::attempt_limits::{self, Caller};
use super::audit::write_account_audit;
use super::factor_code::Holder;
use super::failed_proofs::{self, FailedProof};
use super::open_session::{Browser, OpenedSession, open_session};
use crate::domain::{
    Account, Action, AuditEvent, Author, Credentials, Email, Password, Session, Target, TargetKind,
};
use crate::mail::Mail;
use crate::passwords::{PasswordError, Requester};
use crate::state::State;
use crate::store::attempts::{self, Admission, Attempt};
use crate::store::email_confirmations::Changes;
use crate::store::{accounts, email_confirmations, memberships, password_links, second_factors, sessions};

pub(crate) struct ChangePassword {
    pub(crate) current: Password,
    pub(crate) new: Password,
    pub(crate) caller: Caller,
    pub(crate) browser: Browser,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangePasswordError {
    #[error("the current password is wrong")]
    Wrong,
    #[error("too many wrong passwords")]
    TooMany { wait: TimeDelta },
    #[error("the user no longer exists")]
    UnknownUser,
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A wrong current password counts as a failed log-in: somebody at an unattended page must not get more guesses than a
/// stranger.
pub(crate) async fn change_password(
    state: &State,
    session: &Session,
    author: &Author,
    request: ChangePassword,
) -> Result<OpenedSession, ChangePasswordError> {
    let counted = count(state, session, &request.caller).await?;
    let outcome = check_and_change(state, session, author, &request, &counted).await;
    match outcome {
        Ok(opened) => {
            state.mailbox.wake_sender();
            tracing::info!(business_id = %session.business, user_id = %session.user, "password changed");
            Ok(opened)
        }
        Err(ChangePasswordError::Wrong) => {
            failed_proofs::record(state, &Holder::of(session), author, FailedProof::CurrentPassword).await;
            Err(ChangePasswordError::Wrong)
        }
        Err(error) => {
            attempt_limits::cancel(state, &counted).await;
            Err(error)
        }
    }
}

async fn count(
    state: &State,
    session: &Session,
    caller: &Caller,
) -> Result<Vec<Attempt>, ChangePasswordError> {
    let email = Email::parse(&session.email).ok_or(ChangePasswordError::UnknownUser)?;
    let subjects = attempt_limits::subjects(state, &attempt_limits::LOG_IN, &email, caller).await?;
    match attempt_limits::admit(state, &subjects).await? {
        Admission::Granted(counted) => Ok(counted),
        Admission::RetryAfter(wait) => Err(ChangePasswordError::TooMany { wait }),
    }
}

async fn check_and_change(
    state: &State,
    session: &Session,
    author: &Author,
    request: &ChangePassword,
    counted: &[Attempt],
) -> Result<OpenedSession, ChangePasswordError> {
    let account = session.account;
    let database = &state.unit.database;
    let found = database.read(async |conn| accounts::credentials(conn, account).await).await;
    let found: Option<Credentials> = found?;
    let credentials = found.ok_or(ChangePasswordError::UnknownUser)?;
    let requester = Requester::Known(session.email.clone());
    let stored_hash = credentials.password_hash.as_deref();
    if !state.passwords.verify(&request.current, stored_hash, requester.clone()).await? {
        return Err(ChangePasswordError::Wrong);
    }
    let hash = state.passwords.hash(&request.new, requester).await?;
    database
        .transaction(async |conn| {
            let now = state.unit.clock.now();
            if !accounts::lock_unchanged(
                conn,
                Account::User(credentials.account),
                credentials.password_hash.as_deref(),
            )
            .await?
            {
                // Another change came first: the entered password is no longer the current one.
                return Err(ChangePasswordError::Wrong);
            }
            accounts::set_password(conn, account, &hash).await?;
            attempts::cancel(conn, counted).await?;
            sessions::end_all(conn, account.into(), None, now).await?;
            let target = Target::new(TargetKind::User, session.user).labelled(&credentials.email);
            let event = AuditEvent::new(Action::PasswordChanged).on(target);
            write_account_audit(conn, state, account, author, &event).await?;
            // An unverified address may be somebody else's, who takes the account over by the link.
            if credentials.email_verified {
                password_links::remove_all(conn, Account::User(account)).await?;
            }
            // A thief of the old password may have requested one.
            email_confirmations::remove_changes(conn, account, Changes::All).await?;
            let mail = Mail::PasswordChanged { at: now };
            state.mailbox.queue(conn, session.business, &credentials.email, &mail, now).await?;
            let changed = Credentials { password_hash: Some(hash.clone()), ..credentials.clone() };
            let membership = memberships::find(conn, account, session.business).await?;
            let membership = membership.ok_or(ChangePasswordError::UnknownUser)?;
            let opened = open_session(conn, state, &changed, membership, &request.browser).await?;
            // The password alone does not confirm a session of an account with a second factor.
            if second_factors::is_enrolled(conn, Account::User(account)).await? {
                sessions::set_authenticated(conn, opened.session.id, session.authenticated_at).await?;
            }
            Ok(opened)
        })
        .await
}
