//! A person of the staff logs in. Neither the response nor its time reveals whether the account exists.

use std::sync::Arc;

use chrono::TimeDelta;
use domain::RequestId;
use postgres::StoreError;

use super::attempt_limits::{self, Caller};
use super::audit::write_operator_audit;
use super::operator_session::{self, OpenedConsole};
use crate::domain::{
    Action, AuditEvent, Author, Email, OperatorActor, OperatorCaller, Password, Scope, SessionToken,
    StaffCredentials, Subject, Target, TargetKind,
};
use crate::passwords::{PasswordError, Requester};
use crate::state::State;
use crate::store::attempts::{Admission, Attempt};
use crate::store::staff;

pub(crate) struct StaffLogIn {
    pub(crate) email: Email,
    pub(crate) password: Password,
    pub(crate) caller: Caller,
    /// The browser's previous session.
    pub(crate) replaces: Option<SessionToken>,
    pub(crate) request: Option<RequestId>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum StaffLogInError {
    #[error("the e-mail address or the password is wrong")]
    InvalidCredentials,
    #[error("too many log-ins")]
    TooMany { wait: TimeDelta },
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Counts the attempt, checks the password, and opens a session.
pub(crate) async fn log_in(
    state: &Arc<State>,
    request: StaffLogIn,
) -> Result<OpenedConsole, StaffLogInError> {
    let subjects = subjects(state, &request);
    let counted = match attempt_limits::admit(state, &subjects).await? {
        Admission::RetryAfter(wait) => return Err(StaffLogInError::TooMany { wait }),
        Admission::Granted(counted) => counted,
    };
    let opened = match check(state, &request).await {
        Ok(person) => open(state, &request, &person, (&subjects, &counted)).await,
        Err(error) => Err(error),
    };
    if !matches!(opened, Ok(_) | Err(StaffLogInError::InvalidCredentials)) {
        attempt_limits::cancel(state, &counted).await;
    }
    opened
}

/// Separate from the attempts on a business's account with the same e-mail address.
fn subjects(state: &State, request: &StaffLogIn) -> Vec<Subject> {
    let (email, caller) = (&request.email, &request.caller);
    let mut subjects = vec![
        Subject::staff(Scope::LogInAccount, email),
        Subject::staff_at(Scope::LogInAccountAddress, email, &caller.address_text()),
    ];
    let address = caller.address.as_ref().filter(|_| state.limit_per_address);
    subjects.extend(address.map(|address| Subject::address(Scope::LogInAddress, address)));
    subjects
}

async fn check(state: &Arc<State>, request: &StaffLogIn) -> Result<StaffCredentials, StaffLogInError> {
    let database = &state.unit.database;
    let found = database.read(async |conn| staff::credentials(conn, &request.email).await).await;
    let found: Option<StaffCredentials> = found?;
    let stored_hash = found.as_ref().and_then(|person| person.password_hash.as_deref());
    let requester = Requester { address: request.caller.address_text(), account: request.email.key() };
    let is_right = state.passwords.verify(&request.password, stored_hash, requester).await?;
    if let Some(person) = found.as_ref().filter(|_| !is_right) {
        audit_failure(state, person, request);
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

async fn open(
    state: &State,
    request: &StaffLogIn,
    person: &StaffCredentials,
    (subjects, counted): (&[Subject], &[Attempt]),
) -> Result<OpenedConsole, StaffLogInError> {
    let actor = OperatorActor::Person { id: person.id, email: person.email.clone() };
    let caller = OperatorCaller { actor, address: request.caller.address.clone() };
    let author = Author::operator(caller, request.request);
    let opened: Result<OpenedConsole, StaffLogInError> = state
        .unit
        .database
        .transaction(async |conn| {
            // The password may have changed since it was checked.
            if !staff::lock_unchanged(conn, person).await? {
                return Err(StaffLogInError::InvalidCredentials);
            }
            attempt_limits::clear_failures(conn, subjects, counted).await?;
            Ok(operator_session::insert(conn, state, person.id, request.replaces.as_ref(), &author).await?)
        })
        .await;
    let opened = opened?;
    tracing::info!(staff_id = %person.id, "person of the staff logged in");
    Ok(opened)
}
