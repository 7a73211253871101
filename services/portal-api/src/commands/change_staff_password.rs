//! A logged-in person of the staff changes their password. All their sessions end, and the current browser gets a new one.

use chrono::{DateTime, Utc};
use domain::StaffId;

use super::attempt_limits::{self, Caller};
use super::change_password::{ChangePassword, ChangePasswordError};
use super::factor_code::Holder;
use super::failed_proofs::{self, FailedProof};
use super::operator_session::{self, OpenedConsole, Proved};
use crate::domain::{
    Account, Action, AuditEvent, Author, Email, KnownBrowser, StaffCredentials, Target, TargetKind,
};
use crate::mail::Mail;
use crate::passwords::Requester;
use crate::state::State;
use crate::store::attempts::{self, Admission, Attempt};
use crate::store::{accounts, password_links, second_factors, sessions, staff};

/// The person whose session sends the call.
pub(crate) struct Changing<'a> {
    pub(crate) id: StaffId,
    pub(crate) email: &'a Email,
    pub(crate) author: &'a Author,
    pub(crate) authenticated_at: DateTime<Utc>,
}

/// A wrong current password counts as a failed log-in.
pub(crate) async fn change_password(
    state: &State,
    person: &Changing<'_>,
    request: &ChangePassword,
) -> Result<OpenedConsole, ChangePasswordError> {
    let counted = count(state, person.email, &request.caller).await?;
    let opened = check_and_change(state, person, request, &counted).await;
    match &opened {
        Ok(_) => {
            state.mailbox.wake_sender();
            tracing::info!(staff_id = %person.id, "password of a person of the staff changed");
        }
        Err(ChangePasswordError::Wrong) => {
            let account = Account::Staff(person.id);
            let holder = Holder { account, email: person.email.as_str().to_owned() };
            failed_proofs::record(state, &holder, person.author, FailedProof::CurrentPassword).await;
        }
        Err(_) => attempt_limits::cancel(state, &counted).await,
    }
    opened
}

async fn count(state: &State, email: &Email, caller: &Caller) -> Result<Vec<Attempt>, ChangePasswordError> {
    let subjects = attempt_limits::staff_subjects(state, &attempt_limits::LOG_IN, email, caller);
    match attempt_limits::admit(state, &subjects).await? {
        Admission::Granted(counted) => Ok(counted),
        Admission::RetryAfter(wait) => Err(ChangePasswordError::TooMany { wait }),
    }
}

async fn check_and_change(
    state: &State,
    person: &Changing<'_>,
    request: &ChangePassword,
    counted: &[Attempt],
) -> Result<OpenedConsole, ChangePasswordError> {
    let database = &state.unit.database;
    let found = database.read(async |conn| staff::credentials(conn, person.email).await).await;
    let found: Option<StaffCredentials> = found?;
    let checked = found.filter(|found| found.id == person.id).ok_or(ChangePasswordError::UnknownUser)?;
    let requester = Requester::Known(person.email.key());
    let stored_hash = checked.password_hash.as_deref();
    if !state.passwords.verify(&request.current, stored_hash, requester.clone()).await? {
        return Err(ChangePasswordError::Wrong);
    }
    let hash = state.passwords.hash(&request.new, requester).await?;
    database
        .transaction(async |conn| {
            // As changes of the staff lock: they may issue or consume the person's link.
            staff::lock(conn).await?;
            if !accounts::lock_unchanged(conn, Account::Staff(checked.id), checked.password_hash.as_deref())
                .await?
            {
                // Another change came first: the entered password is no longer the current one.
                return Err(ChangePasswordError::Wrong);
            }
            staff::set_password(conn, person.id, &hash).await?;
            attempts::cancel(conn, counted).await?;
            password_links::remove_all(conn, Account::Staff(person.id)).await?;
            let now = state.unit.clock.now();
            sessions::end_all(conn, person.id.into(), None, now).await?;
            let target = Target::new(TargetKind::Staff, person.id).labelled(person.email.as_str());
            let event = AuditEvent::new(Action::PasswordChanged).on(target);
            let from = (&request.browser, Proved::Now { new_browser: None });
            let opened =
                operator_session::insert(conn, state, person.id.into(), from, person.author, &event).await?;
            // The password alone does not confirm a session of an account with a second factor.
            if second_factors::is_enrolled(conn, Account::Staff(person.id)).await? {
                sessions::set_authenticated(conn, opened.session, person.authenticated_at).await?;
            }
            let mail = Mail::StaffPasswordChanged { at: now };
            state.mailbox.queue(conn, person.id, person.email.as_str(), &mail, now).await?;
            let browser = Some(KnownBrowser::issue(&hash, person.id, now));
            Ok(OpenedConsole { browser, ..opened })
        })
        .await
}
