//! A user, or a person of the staff, logs in. Neither the response nor its time reveals whether the account exists.

use std::sync::Arc;

use chrono::TimeDelta;
use domain::Email;
use identity::Realm;
use identity::accounts::{self, Credentials};
use identity::attempts::{self, Admission, Attempt, Subject};
use identity::passwords::{Password, PasswordError};
use identity::second_factors::OpenedChallenge;
use postgres::StoreError;

use crate::account::commands::attempt_limits;
use crate::account::commands::destination::Destination;
use crate::account::commands::open_session::{OpenedSession, open_after_log_in};
use crate::account::commands::visitor::Visitor;
use crate::audit::commands::audit::try_write_entry;
use crate::audit::commands::audit_line::{Refusal, log_refusal};
use crate::audit::domain::{Action, AuditEvent, Target};
use crate::single_sign_on::commands::sso_required::SsoRequiredError;
use crate::state::State;

/// How often the transaction is tried when deadlocks abort it.
const TRIES: usize = 3;

pub(crate) struct LogIn {
    pub(crate) email: Email,
    pub(crate) password: Password,
    pub(crate) visitor: Visitor,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum LogInError {
    #[error("the e-mail address or the password is wrong")]
    InvalidCredentials,
    #[error("the staff, or this person of it, logs in with single sign-on only")]
    PasswordsOff,
    #[error("too many log-ins")]
    TooMany { wait: TimeDelta },
    #[error(transparent)]
    Sso(#[from] SsoRequiredError),
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LogInError {
    /// Whether single sign-on is required instead of the right password.
    fn is_of_provider(&self) -> bool {
        matches!(self, Self::PasswordsOff | Self::Sso(SsoRequiredError::Required { .. }))
    }
}

/// The result of the right password.
pub(crate) enum LogInOutcome {
    Session(OpenedSession),
    /// The account has a second factor, whose code opens the session.
    Challenge(OpenedChallenge),
}

/// Counts the attempt, checks the password, and opens a session or a challenge.
pub(crate) async fn log_in(state: &Arc<State>, log_in: LogIn) -> Result<LogInOutcome, LogInError> {
    let LogIn { visitor, email, .. } = &log_in;
    if visitor.realm == Realm::Staff && !state.staff_log_in_ways().passwords {
        return Err(LogInError::PasswordsOff);
    }
    let of = (visitor.realm, email);
    let subjects = attempt_limits::subjects(state, &attempts::LOG_IN, of, &visitor.caller).await?;
    let counted = match admit(state, of, &subjects).await? {
        Admission::RetryAfter(wait) => {
            log_refused(Refusal::TooMany, visitor);
            return Err(LogInError::TooMany { wait });
        }
        Admission::Granted(counted) => counted,
    };
    let opened = match check(state, &log_in).await {
        Ok(credentials) => {
            let opened = open(state, &log_in, &credentials, (&subjects, &counted)).await;
            if opened.as_ref().is_err_and(LogInError::is_of_provider) {
                audit_failure(state, &credentials, visitor);
            }
            opened
        }
        Err(error) => Err(error),
    };
    match &opened {
        // Counted as a failure.
        Ok(_) | Err(LogInError::InvalidCredentials) => {}
        Err(error) if error.is_of_provider() => {}
        Err(_) => attempt_limits::cancel(state, &counted).await,
    }
    opened
}

/// Successful log-ins of users have a separate, higher limit.
async fn admit(state: &State, of: (Realm, &Email), subjects: &[Subject]) -> Result<Admission, StoreError> {
    let now = state.unit.clock.now();
    let successes = success(of);
    let database = &state.unit.database;
    database
        .transaction(async |conn| {
            if let Some(successes) = &successes
                && let Some(wait) = attempts::wait(conn, successes, now).await?
            {
                return Ok(Admission::RetryAfter(wait));
            }
            attempts::admit(conn, subjects, now).await
        })
        .await
}

fn success(of: (Realm, &Email)) -> Option<Subject> {
    (of.0 == Realm::User).then(|| Subject::account(attempts::LOG_IN_SUCCESS, of))
}

async fn check(
    state: &Arc<State>,
    LogIn { email, password, visitor }: &LogIn,
) -> Result<Credentials, LogInError> {
    let (address, database) = (visitor.caller.address.as_ref(), &state.unit.database);
    let found = database.read(async |conn| accounts::by_email(conn, (visitor.realm, email)).await).await;
    let found: Option<Credentials> = found?;
    let stored_hash = found.as_ref().and_then(|found| found.password_hash.as_deref());
    let now = state.unit.clock.now();
    let is_known = found.as_ref().is_some_and(|found| visitor.is_known_to(found, now));
    let requester = attempt_limits::requester(state, (email, is_known), address).await?;
    let is_right = state.passwords.verify(password, stored_hash, requester).await?;
    match &found {
        Some(found) if !is_right => audit_failure(state, found, visitor),
        Some(_) => {}
        None => log_refused(Refusal::UnknownAccount, visitor),
    }
    found.filter(|_| is_right).ok_or(LogInError::InvalidCredentials)
}

fn log_refused(refusal: Refusal, visitor: &Visitor) {
    log_refusal(refusal, visitor.realm, visitor.caller.address.as_ref(), visitor.request);
}

/// Runs in the background: the time of another write would reveal that the account exists. The limit on attempts bounds the
/// number of entries.
fn audit_failure(state: &Arc<State>, of: &Credentials, visitor: &Visitor) {
    let event = AuditEvent::new(Action::SessionFailed).on(Target::account(of.account, &of.email));
    let (shared, account, author) = (state.clone(), of.account, visitor.unknown());
    state.background.spawn(async move {
        try_write_entry(&shared, account, &author, &event).await;
    });
}

/// Retries after a deadlock. Transactions lock the account first, so that deadlocks need two accounts: for example a log-in with a
/// browser that still holds the session of another user.
async fn open(
    state: &State,
    log_in: &LogIn,
    credentials: &Credentials,
    counted: (&[Subject], &[Attempt]),
) -> Result<LogInOutcome, LogInError> {
    for _ in 1..TRIES {
        match try_open(state, log_in, credentials, counted).await {
            Err(LogInError::Store(error)) if error.is_deadlock() => {
                tracing::info!("log-in aborted by a deadlock; it is retried");
            }
            outcome => return outcome,
        }
    }
    try_open(state, log_in, credentials, counted).await
}

async fn try_open(
    state: &State,
    LogIn { email, visitor, .. }: &LogIn,
    credentials: &Credentials,
    (subjects, counted): (&[Subject], &[Attempt]),
) -> Result<LogInOutcome, LogInError> {
    let (account, hash) = (credentials.account, credentials.password_hash.as_deref());
    let opened: Result<LogInOutcome, LogInError> = state
        .unit
        .database
        .transaction(async |conn| {
            // The password may have changed since it was checked.
            if !accounts::lock_unchanged(conn, account, hash).await? {
                return Err(LogInError::InvalidCredentials);
            }
            let to = Destination::of_password(conn, state, account).await?.ok_or(LogInError::PasswordsOff)?;
            let now = state.unit.clock.now();
            if let Some(success) = success((visitor.realm, email)) {
                attempts::record(conn, success, now).await?;
            }
            attempt_limits::record_success(conn, &visitor.caller, now).await?;
            if let Some(opened) =
                state.factors.open_challenge(conn, account, hash.unwrap_or_default()).await?
            {
                // The failures are forgotten with the right code.
                attempts::cancel(conn, counted).await?;
                return Ok(LogInOutcome::Challenge(opened));
            }
            attempt_limits::clear_failures(conn, subjects, counted).await?;
            let event = AuditEvent::new(Action::SessionOpened);
            let opened = open_after_log_in(conn, state, credentials, &to, visitor, event).await?;
            Ok(LogInOutcome::Session(opened))
        })
        .await;
    let opened = opened?;
    match &opened {
        LogInOutcome::Session(opened) => {
            state.mailbox.wake_sender();
            tracing::info!(account_id = %account, session_id = %opened.id, "logged in");
        }
        LogInOutcome::Challenge(_) => {
            tracing::info!(account_id = %account, "log-in waits for the second factor");
        }
    }
    Ok(opened)
}
