//! A user logs in. Neither the response nor its time reveals whether the account exists.

use std::sync::Arc;

use chrono::TimeDelta;
use domain::RequestId;
use postgres::StoreError;

use super::attempt_limits::{self, Caller};
use super::audit::{try_write_account_audit, write_audit};
use super::audit_line::{Refusal, log_refusal};
use super::challenge::{self, OpenedChallenge};
use super::open_session::{Browser, OpenedSession, open_after_log_in};
use super::sso_required::{self, SsoRequiredError};
use crate::domain::{
    Account, Action, AuditEvent, Author, Credentials, Email, Password, Scope, Subject, Target, TargetKind,
};
use crate::passwords::PasswordError;
use crate::state::State;
use crate::store::accounts;
use crate::store::attempts::{self, Admission, Attempt};

/// How often the transaction is tried when deadlocks abort it.
const TRIES: usize = 3;

pub(crate) struct LogIn {
    pub(crate) email: Email,
    pub(crate) password: Password,
    pub(crate) caller: Caller,
    pub(crate) browser: Browser,
    pub(crate) request: Option<RequestId>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum LogInError {
    #[error("the e-mail address or the password is wrong")]
    InvalidCredentials,
    #[error("too many log-ins")]
    TooMany { wait: TimeDelta },
    #[error(transparent)]
    Sso(#[from] SsoRequiredError),
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The result of the right password.
pub(crate) enum LogInOutcome {
    Session(Box<OpenedSession>),
    /// The account has a second factor, whose code opens the session.
    Challenge(OpenedChallenge),
}

/// Counts the attempt, checks the password, and opens a session or a challenge. Successful log-ins have a separate, higher
/// limit.
pub(crate) async fn log_in(state: &Arc<State>, request: LogIn) -> Result<LogInOutcome, LogInError> {
    let subjects =
        attempt_limits::subjects(state, &attempt_limits::LOG_IN, &request.email, &request.caller).await?;
    let counted = match admit(state, &request.email, &subjects).await? {
        Admission::RetryAfter(wait) => {
            log_refusal(Refusal::TooMany, "portal", request.caller.address.as_ref(), request.request);
            return Err(LogInError::TooMany { wait });
        }
        Admission::Granted(counted) => counted,
    };
    let opened = match check(state, &request).await {
        Ok(credentials) => {
            let opened = open(state, &request, &credentials, (&subjects, &counted)).await;
            if matches!(opened, Err(LogInError::Sso(SsoRequiredError::Required { .. }))) {
                audit_failure(state, &credentials, &request);
            }
            opened
        }
        Err(error) => Err(error),
    };
    match opened {
        Ok(opened) => Ok(opened),
        // Counted as a failure.
        Err(
            error @ (LogInError::InvalidCredentials | LogInError::Sso(SsoRequiredError::Required { .. })),
        ) => Err(error),
        Err(error) => {
            attempt_limits::cancel(state, &counted).await;
            Err(error)
        }
    }
}

async fn admit(state: &State, email: &Email, subjects: &[Subject]) -> Result<Admission, StoreError> {
    let now = state.unit.clock.now();
    let successes = Subject::account(Scope::LogInSuccess, email);
    let database = &state.unit.database;
    database
        .transaction(async |conn| match attempts::wait(conn, &successes, now).await? {
            Some(wait) => Ok(Admission::RetryAfter(wait)),
            None => attempts::admit(conn, subjects, now).await,
        })
        .await
}

async fn check(state: &Arc<State>, request: &LogIn) -> Result<Credentials, LogInError> {
    let database = &state.unit.database;
    let found = database.read(async |conn| accounts::by_email(conn, &request.email).await).await;
    let credentials: Option<Credentials> = found?;
    let stored_hash = credentials.as_ref().and_then(|credentials| credentials.password_hash.as_deref());
    let now = state.unit.clock.now();
    let is_known = |account: &Credentials| account.knows(request.caller.browser.as_ref(), now);
    let of = (&request.email, credentials.as_ref().is_some_and(is_known));
    let requester = attempt_limits::requester(state, of, request.caller.address.as_ref()).await?;
    let is_right = state.passwords.verify(&request.password, stored_hash, requester).await?;
    match &credentials {
        Some(account) if !is_right => audit_failure(state, account, request),
        Some(_) => {}
        None => {
            log_refusal(Refusal::UnknownAccount, "portal", request.caller.address.as_ref(), request.request);
        }
    }
    credentials.filter(|_| is_right).ok_or(LogInError::InvalidCredentials)
}

/// Runs in the background: the time of another write would reveal that the account exists. The limit on attempts bounds the
/// number of entries.
fn audit_failure(state: &Arc<State>, account: &Credentials, request: &LogIn) {
    let target = Target::new(TargetKind::User, account.user).labelled(&account.email);
    let event = AuditEvent::new(Action::SessionFailed).on(target);
    let author = Author::system(request.request).at(request.caller.address.clone());
    let (shared, account) = (state.clone(), account.account);
    state.background.spawn(async move {
        try_write_account_audit(&shared, account, &author, &event).await;
    });
}

/// Retries after a deadlock. Transactions lock the user first, so that deadlocks need two users: for example a log-in with a
/// browser that still holds the session of another user.
async fn open(
    state: &State,
    request: &LogIn,
    credentials: &Credentials,
    (subjects, counted): (&[Subject], &[Attempt]),
) -> Result<LogInOutcome, LogInError> {
    for _ in 1..TRIES {
        match try_open(state, request, credentials, (subjects, counted)).await {
            Err(LogInError::Store(error)) if error.is_deadlock() => {
                tracing::info!("log-in aborted by a deadlock; it is retried");
            }
            outcome => return outcome,
        }
    }
    try_open(state, request, credentials, (subjects, counted)).await
}

async fn try_open(
    state: &State,
    request: &LogIn,
    credentials: &Credentials,
    (subjects, counted): (&[Subject], &[Attempt]),
) -> Result<LogInOutcome, LogInError> {
    let opened: Result<LogInOutcome, LogInError> = state
        .unit
        .database
        .transaction(async |conn| {
            // The password may have changed since it was checked.
            if !accounts::lock_unchanged(
                conn,
                Account::User(credentials.account),
                credentials.password_hash.as_deref(),
            )
            .await?
            {
                return Err(LogInError::InvalidCredentials);
            }
            let membership = sso_required::latest_membership(conn, state, credentials).await?;
            let success = Subject::account(Scope::LogInSuccess, &request.email);
            attempts::record(conn, success, state.unit.clock.now()).await?;
            attempt_limits::record_success(conn, &request.caller, state.unit.clock.now()).await?;
            let hash = credentials.password_hash.as_deref().unwrap_or_default();
            let account = Account::User(credentials.account);
            if let Some(opened) = challenge::open(conn, state, account, hash).await? {
                // The failures are forgotten with the right code.
                attempts::cancel(conn, counted).await?;
                return Ok(LogInOutcome::Challenge(opened));
            }
            attempt_limits::clear_failures(conn, subjects, counted).await?;
            let opened =
                open_after_log_in(conn, state, credentials, membership, &request.caller, &request.browser)
                    .await?;
            let author = Author::of(&opened.session, request.request).at(request.caller.address.clone());
            let target = Target::new(TargetKind::Session, opened.session.id);
            let event = AuditEvent::new(Action::SessionOpened).on(target);
            write_audit(conn, state, opened.session.business, &author, &event).await?;
            Ok(LogInOutcome::Session(Box::new(opened)))
        })
        .await;
    let opened = opened?;
    let (business_id, user_id) = (credentials.business, credentials.user);
    match &opened {
        LogInOutcome::Session(opened) => {
            state.mailbox.wake_sender();
            tracing::info!(%business_id, %user_id, session_id = %opened.session.id, "user logged in");
        }
        LogInOutcome::Challenge(_) => {
            tracing::info!(%business_id, %user_id, "log-in waits for the second factor");
        }
    }
    Ok(opened)
}
