//! A user changes their e-mail address: at once without mails, otherwise with a link that is mailed to the new address.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{Email, SessionId};
use identity::{Account, accounts, password_links, sessions};
use postgres::StoreError;

use crate::account::commands::confirm_email::{admit, create_link};
use crate::audit::commands::audit::write_account_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::domain::{EmailConfirmation, Session, UserAccount};
use crate::mail::Mail;
use crate::state::State;
use crate::store::email_confirmations::{self, Changes};
use crate::store::user_accounts;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeEmailError {
    #[error("another account has the address")]
    EmailTaken,
    #[error("too many changes were requested")]
    TooMany { wait: TimeDelta },
    #[error("the user no longer exists")]
    UnknownUser,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EmailChange {
    Made,
    /// The link in the mail makes it.
    Requested,
}

/// The present address withdraws a requested change. A new one replaces it.
pub(crate) async fn change_email(
    state: &State,
    session: &Session,
    author: &Author,
    email: &Email,
) -> Result<EmailChange, ChangeEmailError> {
    let key = session.account;
    if !state.mailbox.is_enabled && present_address(state, session).await? != Some(email.key()) {
        // Committed before the change, which a taken address undoes: otherwise a user could ask about all addresses.
        count_try(state, session, email).await?;
    }
    let changed: Result<EmailChange, ChangeEmailError> = state
        .unit
        .database
        .transaction(async |conn| {
            accounts::lock(conn, key).await?;
            let account = user_accounts::of(conn, key).await?;
            let account = account.ok_or(ChangeEmailError::UnknownUser)?;
            if account.email_is(email) {
                email_confirmations::remove_changes(conn, key, Changes::All).await?;
                return Ok(EmailChange::Made);
            }
            if state.mailbox.is_enabled {
                if let Some(wait) = admit(conn, key, email, state.unit.clock.now()).await? {
                    return Err(ChangeEmailError::TooMany { wait });
                }
                request(conn, state, &account, email, session.id, author).await?;
                return Ok(EmailChange::Requested);
            }
            apply(conn, state, &account, (email, None), session.id, author).await?;
            email_confirmations::remove_all(conn, key, None).await?;
            Ok(EmailChange::Made)
        })
        .await;
    let changed = changed?;
    state.mailbox.wake_sender();
    tracing::info!(business_id = %session.business, user_id = %session.user, ?changed, "change of an e-mail address");
    Ok(changed)
}

/// In lower case.
async fn present_address(state: &State, session: &Session) -> Result<Option<String>, StoreError> {
    let (key, database) = (session.account, &state.unit.database);
    let found = database.read(async |conn| user_accounts::of(conn, key).await).await;
    let found: Option<UserAccount> = found?;
    Ok(found.and_then(|account| Email::parse(&account.email)).map(|email| email.key()))
}

async fn count_try(state: &State, session: &Session, email: &Email) -> Result<(), ChangeEmailError> {
    let (account, now) = (session.account, state.unit.clock.now());
    let database = &state.unit.database;
    let counted = database.transaction(async |conn| admit(conn, account, email, now).await).await;
    let wait: Option<TimeDelta> = counted?;
    wait.map_or(Ok(()), |wait| Err(ChangeEmailError::TooMany { wait }))
}

/// Stores the request, and informs the present address. If another account has the new address, it looks the same to the caller,
/// but nothing is mailed there.
async fn request(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: &UserAccount,
    email: &Email,
    session: SessionId,
    author: &Author,
) -> Result<(), StoreError> {
    let (business, user, now) = (account.business, account.user, state.unit.clock.now());
    email_confirmations::remove_changes(conn, account.account, Changes::ExceptTo(email)).await?;
    let link = EmailConfirmation {
        account: account.account,
        email: email.clone(),
        change_by: Some(session),
        is_used: false,
    };
    let (token, expires_at) = create_link(conn, state, &link).await?;
    let target = Target::new(TargetKind::User, user).labelled(&account.email);
    let event = AuditEvent::new(Action::EmailChangeRequested).on(target).with("to", email.as_str());
    write_account_audit(conn, state, account.account, author, &event).await?;
    let notice = Mail::EmailChangeRequested { at: now };
    state.mailbox.queue(conn, business, &account.email, &notice, now).await?;
    if accounts::is_taken(conn, email).await? {
        return Ok(());
    }
    let mail = Mail::ConfirmNewEmail { token: &token, expires_at };
    state.mailbox.queue(conn, business, email.as_str(), &mail, now).await
}

/// Replaces the address. Informs the old one, and ends what belongs to it: reset links, and all sessions except `kept`.
pub(crate) async fn apply(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: &UserAccount,
    (to, verified_at): (&Email, Option<DateTime<Utc>>),
    kept: SessionId,
    author: &Author,
) -> Result<(), ChangeEmailError> {
    let (business, user, now) = (account.business, account.user, state.unit.clock.now());
    // Before the change, because notices go to verified addresses only.
    state.mailbox.queue(conn, business, &account.email, &Mail::EmailChanged { at: now }, now).await?;
    if !accounts::set_email(conn, account.account, to, verified_at).await? {
        return Err(ChangeEmailError::EmailTaken);
    }
    password_links::remove_all(conn, Account::User(account.account)).await?;
    sessions::end_all(conn, account.account.into(), Some(kept), now).await?;
    let event = AuditEvent::new(Action::EmailChanged)
        .on(Target::new(TargetKind::User, user).labelled(to.as_str()))
        .with("from", account.email.as_str())
        .with("to", to.as_str())
        .with("verified", verified_at.is_some());
    Ok(write_account_audit(conn, state, account.account, author, &event).await?)
}
