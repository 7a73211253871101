//! A person of the staff logs in. Neither the response nor its time reveals whether the account exists.

use std::sync::Arc;

use chrono::TimeDelta;
use diesel_async::AsyncPgConnection;
use domain::{RequestId, StaffId};
use postgres::StoreError;

use super::attempt_limits::{self, Caller};
use super::audit::write_operator_audit;
use super::audit_line::{Refusal, log_refusal};
use super::challenge::{self, OpenedChallenge};
use super::open_session::Browser;
use super::operator_session::{self, OpenedConsole};
use crate::domain::{
    Account, Action, AuditEvent, Author, Email, OperatorActor, OperatorCaller, Password, StaffCredentials,
    Subject, Target, TargetKind,
};
use crate::passwords::PasswordError;
use crate::state::State;
use crate::store::attempts::{self, Admission, Attempt};
use crate::store::{accounts, identities, staff};

pub(crate) struct StaffLogIn {
    pub(crate) email: Email,
    pub(crate) password: Password,
    pub(crate) caller: Caller,
    pub(crate) browser: Browser,
    pub(crate) request: Option<RequestId>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum StaffLogInError {
    #[error("the e-mail address or the password is wrong")]
    InvalidCredentials,
    #[error("the staff, or this person, logs in with single sign-on only")]
    PasswordsOff,
    #[error("too many log-ins")]
    TooMany { wait: TimeDelta },
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The result of the right password.
pub(crate) enum StaffLogInOutcome {
    Session(OpenedConsole),
    /// The account has a second factor, whose code opens the session.
    Challenge(OpenedChallenge),
}

/// Counts the attempt, checks the password, and opens a session or a challenge.
pub(crate) async fn log_in(
    state: &Arc<State>,
    request: StaffLogIn,
) -> Result<StaffLogInOutcome, StaffLogInError> {
    if state.single_sign_on.as_ref().is_some_and(|sso| !sso.allows_passwords) {
        return Err(StaffLogInError::PasswordsOff);
    }
    let subjects =
        attempt_limits::staff_subjects(state, &attempt_limits::LOG_IN, &request.email, &request.caller);
    let counted = match attempt_limits::admit(state, &subjects).await? {
        Admission::RetryAfter(wait) => {
            log_refusal(Refusal::TooMany, "console", request.caller.address.as_ref(), request.request);
            return Err(StaffLogInError::TooMany { wait });
        }
        Admission::Granted(counted) => counted,
    };
    let opened = match check(state, &request).await {
        Ok(person) => {
            let opened = open(state, &request, &person, (&subjects, &counted)).await;
            if matches!(opened, Err(StaffLogInError::PasswordsOff)) {
                audit_failure(state, &person, &request);
            }
            opened
        }
        Err(error) => Err(error),
    };
    if !matches!(opened, Ok(_) | Err(StaffLogInError::InvalidCredentials | StaffLogInError::PasswordsOff)) {
        attempt_limits::cancel(state, &counted).await;
    }
    opened
}

async fn check(state: &Arc<State>, request: &StaffLogIn) -> Result<StaffCredentials, StaffLogInError> {
    let database = &state.unit.database;
    let found = database.read(async |conn| staff::credentials(conn, &request.email).await).await;
    let found: Option<StaffCredentials> = found?;
    let stored_hash = found.as_ref().and_then(|person| person.password_hash.as_deref());
    let now = state.unit.clock.now();
    let known = found.as_ref().zip(stored_hash);
    let is_known = known.is_some_and(|(person, hash)| request.caller.is_known_to(hash, person.id, now));
    let of = (&request.email, is_known);
    let requester = attempt_limits::requester(state, of, request.caller.address.as_ref()).await?;
    let is_right = state.passwords.verify(&request.password, stored_hash, requester).await?;
    match &found {
        Some(person) if !is_right => audit_failure(state, person, request),
        Some(_) => {}
        None => {
            log_refusal(Refusal::UnknownAccount, "console", request.caller.address.as_ref(), request.request);
        }
    }
    found.filter(|_| is_right).ok_or(StaffLogInError::InvalidCredentials)
}

/// Runs in the background: the time of another write would reveal that the account exists. The limit on attempts bounds the
/// number of entries.
fn audit_failure(state: &Arc<State>, person: &StaffCredentials, request: &StaffLogIn) {
    let caller = OperatorCaller { actor: OperatorActor::Unknown, address: request.caller.address.clone() };
    let author = Author::operator(caller, request.request);
    let target = Target::new(TargetKind::Staff, person.id).labelled(&person.email);
    let (shared, event) = (state.clone(), AuditEvent::new(Action::SessionFailed).on(target));
    state.background.spawn(async move {
        let parts = (&shared.unit.clock, &shared.unit.entropy);
        let database = &shared.unit.database;
        let written: Result<(), StoreError> =
            database.read(async |conn| write_operator_audit(conn, parts, None, &author, &event).await).await;
        if let Err(error) = written {
            tracing::warn!(%error, action = %event.action, "audit log entry lost");
        }
    });
}

/// Whether a password of the person proves anything.
pub(crate) async fn accepts_password(state: &State, person: StaffId) -> Result<bool, StoreError> {
    if state.single_sign_on.as_ref().is_some_and(|sso| !sso.allows_passwords) {
        return Ok(false);
    }
    let database = &state.unit.database;
    let linked: Result<bool, StoreError> =
        database.read(async |conn| is_linked(conn, state, person).await).await;
    linked.map(|linked| !linked)
}

/// Otherwise a person who is removed or demoted at the provider would keep the former access by the password.
pub(super) async fn is_linked(
    conn: &mut AsyncPgConnection,
    state: &State,
    person: StaffId,
) -> Result<bool, StoreError> {
    let Some(sso) = &state.single_sign_on else { return Ok(false) };
    identities::is_linked(conn, person, sso.issuer()).await
}

async fn open(
    state: &State,
    request: &StaffLogIn,
    person: &StaffCredentials,
    (subjects, counted): (&[Subject], &[Attempt]),
) -> Result<StaffLogInOutcome, StaffLogInError> {
    let actor = OperatorActor::Person { id: person.id, email: person.email.clone() };
    let caller = OperatorCaller { actor, address: request.caller.address.clone() };
    let author = Author::operator(caller, request.request);
    let opened: Result<StaffLogInOutcome, StaffLogInError> = state
        .unit
        .database
        .transaction(async |conn| {
            // The password may have changed since it was checked.
            if !accounts::lock_unchanged(conn, Account::Staff(person.id), person.password_hash.as_deref())
                .await?
            {
                return Err(StaffLogInError::InvalidCredentials);
            }
            if is_linked(conn, state, person.id).await? {
                return Err(StaffLogInError::PasswordsOff);
            }
            attempt_limits::record_success(conn, &request.caller, state.unit.clock.now()).await?;
            let hash = person.password_hash.as_deref().unwrap_or_default();
            if let Some(opened) = challenge::open(conn, state, Account::Staff(person.id), hash).await? {
                // The failures are forgotten with the right code.
                attempts::cancel(conn, counted).await?;
                return Ok(StaffLogInOutcome::Challenge(opened));
            }
            attempt_limits::clear_failures(conn, subjects, counted).await?;
            let (from, event) = ((&request.caller, &request.browser), AuditEvent::new(Action::SessionOpened));
            let opened =
                operator_session::insert_after_log_in(conn, state, person, from, &author, event).await?;
            Ok(StaffLogInOutcome::Session(opened))
        })
        .await;
    let opened = opened?;
    match &opened {
        StaffLogInOutcome::Session(_) => {
            state.mailbox.wake_sender();
            tracing::info!(staff_id = %person.id, "person of the staff logged in");
        }
        StaffLogInOutcome::Challenge(_) => {
            tracing::info!(staff_id = %person.id, "log-in waits for the second factor");
        }
    }
    Ok(opened)
}
