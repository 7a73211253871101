//! A person of the staff sets their password with a link.

use domain::RequestId;
use postgres::StoreError;

use super::attempt_limits::Caller;
use super::audit::write_operator_audit;
use crate::domain::{
    Account, Action, AuditEvent, Author, Email, KnownBrowser, LinkToken, OperatorActor, OperatorCaller,
    Password, Scope, Staff, Subject, Target, TargetKind,
};
use crate::mail::Mail;
use crate::passwords::{PasswordError, Requester};
use crate::state::State;
use crate::store::{attempts, password_links, sessions, staff};

#[derive(Debug, thiserror::Error)]
pub(crate) enum SetPasswordError {
    #[error("the link is used, replaced, expired or invalid")]
    Invalid,
    #[error("the password is the person's e-mail address")]
    LikeEmail,
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Consumes the link, sets the password, ends all sessions of the person, and clears their failed log-ins. Returns the browser,
/// which is known from now on.
pub(crate) async fn set_password(
    state: &State,
    token: &LinkToken,
    password: &Password,
    caller: &Caller,
    request: Option<RequestId>,
) -> Result<KnownBrowser, SetPasswordError> {
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    // Checked before hashing the password, which is expensive.
    let found = database.read(async |conn| staff::of_link(conn, token, now).await).await?;
    let person: Staff = found.ok_or(SetPasswordError::Invalid)?;
    let email = Email::parse(&person.email).ok_or(SetPasswordError::Invalid)?;
    if password.is_like(&email) {
        return Err(SetPasswordError::LikeEmail);
    }
    let requester = Requester::Known(person.id.to_string());
    let hash = state.passwords.hash(password, requester).await?;
    let actor = OperatorActor::Person { id: person.id, email: person.email.clone() };
    let author = Author::operator(OperatorCaller { actor, address: caller.address.clone() }, request);
    let changed: Result<(), SetPasswordError> = database
        .transaction(async |conn| {
            // Changes of the staff may consume or replace the link, and lock in this order.
            staff::lock(conn).await?;
            if password_links::consume(conn, Account::Staff(person.id), token).await?.is_none()
                || !staff::set_password(conn, person.id, &hash).await?
            {
                return Err(SetPasswordError::Invalid);
            }
            sessions::end_all(conn, person.id.into(), None, now).await?;
            for scope in [Scope::LogInAccount, Scope::SecondFactorAccount] {
                attempts::clear(conn, Subject::staff(scope, &email)).await?;
            }
            for scope in [Scope::LogInAccountAddress, Scope::SecondFactorAccountAddress] {
                attempts::clear(conn, Subject::staff_at(scope, &email, &caller.address_text())).await?;
            }
            let target = Target::new(TargetKind::Staff, person.id).labelled(&person.email);
            let event = AuditEvent::new(Action::StaffPasswordSet).on(target);
            let parts = (&state.unit.clock, &state.unit.entropy);
            write_operator_audit(conn, parts, None, &author, &event).await?;
            // The first one changes nothing.
            if person.has_password {
                let mail = Mail::StaffPasswordChanged { at: now };
                state.mailbox.queue(conn, person.id, &person.email, &mail, now).await?;
            }
            Ok(())
        })
        .await;
    changed?;
    state.mailbox.wake_sender();
    tracing::info!(staff_id = %person.id, "password of a person of the staff set");
    Ok(KnownBrowser::issue(&hash, person.id, now))
}
