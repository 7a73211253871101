//! A user confirms their e-mail address with the link of a mail.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{AccountId, Email, SessionId};
use identity::attempts::{self, Admission, Subject};
use identity::{LinkToken, accounts};
use postgres::StoreError;

use crate::account::commands::change_email::{self, ChangeEmailError};
use crate::audit::commands::audit::write_account_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::domain::{EmailConfirmation, Session, UserAccount, limits};
use crate::mail::Mail;
use crate::state::State;
use crate::store::{email_confirmations, user_accounts};

/// The link expires after this time.
const VALID_FOR: TimeDelta = TimeDelta::hours(24);

#[derive(Debug, thiserror::Error)]
pub(crate) enum SendConfirmationError {
    #[error("the address is already verified")]
    AlreadyVerified,
    #[error("no mails are sent")]
    NoMail,
    #[error("too many links were sent")]
    TooMany { wait: TimeDelta },
    #[error("the user no longer exists")]
    UnknownUser,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfirmEmailError {
    #[error("the link is used, replaced, expired or invalid")]
    Invalid,
    #[error("the link belongs to another account")]
    OtherAccount,
    #[error("another account has the address by now")]
    EmailTaken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ChangeEmailError> for ConfirmEmailError {
    fn from(error: ChangeEmailError) -> Self {
        match error {
            ChangeEmailError::EmailTaken => Self::EmailTaken,
            ChangeEmailError::UnknownUser | ChangeEmailError::TooMany { .. } => Self::Invalid,
            ChangeEmailError::Store(error) => Self::Store(error),
        }
    }
}

/// Mails the first link of a new account. A sign-up never fails because of it: the user can send it again.
pub(crate) async fn welcome(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: &UserAccount,
    email: &Email,
) -> Result<(), StoreError> {
    if !state.mailbox.is_enabled {
        return Ok(());
    }
    match admit(conn, account.account, email, state.unit.clock.now()).await? {
        None => mail_link(conn, state, account, email).await,
        Some(_) => {
            tracing::warn!(user_id = %account.user, "confirmation not mailed: too many were sent to this address");
            Ok(())
        }
    }
}

/// Mails another link for the present address. Earlier ones stay valid, because mails may arrive late.
pub(crate) async fn send_again(state: &State, session: &Session) -> Result<(), SendConfirmationError> {
    if !state.mailbox.is_enabled {
        return Err(SendConfirmationError::NoMail);
    }
    let key = session.account;
    let sent: Result<(), SendConfirmationError> = state
        .unit
        .database
        .transaction(async |conn| {
            accounts::lock(conn, key).await?;
            let account = user_accounts::of(conn, key).await?;
            let account = account.ok_or(SendConfirmationError::UnknownUser)?;
            if account.email_verified {
                return Err(SendConfirmationError::AlreadyVerified);
            }
            let email = Email::parse(&account.email).ok_or(SendConfirmationError::UnknownUser)?;
            if let Some(wait) = admit(conn, key, &email, state.unit.clock.now()).await? {
                return Err(SendConfirmationError::TooMany { wait });
            }
            Ok(mail_link(conn, state, &account, &email).await?)
        })
        .await;
    sent?;
    state.mailbox.wake_sender();
    tracing::info!(business_id = %session.business, user_id = %session.user, "confirmation of an e-mail address mailed");
    Ok(())
}

/// Counts a link for the account, for the recipient and for the inbox. Returns how long to wait if a limit is reached.
pub(crate) async fn admit(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    email: &Email,
    now: DateTime<Utc>,
) -> Result<Option<TimeDelta>, StoreError> {
    let inbox = Subject::other_name(limits::EMAIL_CONFIRMATION_INBOX, email);
    let of_both = [limits::confirmation_of(account), limits::confirmation_to(email)];
    let subjects: Vec<Subject> = of_both.into_iter().chain(inbox).collect();
    match attempts::admit(conn, &subjects, now).await? {
        Admission::Granted(_) => Ok(None),
        Admission::RetryAfter(wait) => Ok(Some(wait)),
    }
}

async fn mail_link(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: &UserAccount,
    email: &Email,
) -> Result<(), StoreError> {
    let link =
        EmailConfirmation { account: account.account, email: email.clone(), change_by: None, is_used: false };
    let (token, expires_at) = create_link(conn, state, &link).await?;
    let mail = Mail::ConfirmEmail { token: &token, expires_at };
    state.mailbox.queue(conn, account.business, email.as_str(), &mail, state.unit.clock.now()).await
}

/// Returns the token of the link with the link's end.
pub(crate) async fn create_link(
    conn: &mut AsyncPgConnection,
    state: &State,
    link: &EmailConfirmation,
) -> Result<(LinkToken, DateTime<Utc>), StoreError> {
    let now = state.unit.clock.now();
    let (token, expires_at) = (LinkToken::generate(&state.unit.entropy), now + VALID_FOR);
    email_confirmations::insert(conn, link, &token, (now, expires_at)).await?;
    Ok((token, expires_at))
}

/// Verifies the address of the link, and returns it. Repeating it with the same link has no further effect, because browsers and
/// people send it twice. Needs a session of the link's account: anybody can sign up with the address of somebody else, who must not
/// verify it for them.
pub(crate) async fn confirm_email(
    state: &State,
    session: &Session,
    author: &Author,
    token: &LinkToken,
) -> Result<Email, ConfirmEmailError> {
    let now = state.unit.clock.now();
    let confirmed: Result<EmailConfirmation, ConfirmEmailError> = state
        .unit
        .database
        .transaction(async |conn| {
            let found = email_confirmations::find(conn, token, now).await?;
            let found = found.ok_or(ConfirmEmailError::Invalid)?;
            if session.account != found.account {
                return Err(ConfirmEmailError::OtherAccount);
            }
            accounts::lock(conn, found.account).await?;
            // A change of the address may have ended it since.
            let link = email_confirmations::find(conn, token, now).await?;
            let link = link.ok_or(ConfirmEmailError::Invalid)?;
            let account = user_accounts::of(conn, link.account).await?;
            let account = account.ok_or(ConfirmEmailError::Invalid)?;
            use_link(conn, state, (&link, token), &account, (session.id, author)).await?;
            Ok(link)
        })
        .await;
    let link = confirmed?;
    state.mailbox.wake_sender();
    tracing::info!(business_id = %session.business, user_id = %session.user, "e-mail address confirmed");
    Ok(link.email)
}

async fn use_link(
    conn: &mut AsyncPgConnection,
    state: &State,
    (link, token): (&EmailConfirmation, &LinkToken),
    account: &UserAccount,
    (session, author): (SessionId, &Author),
) -> Result<(), ConfirmEmailError> {
    let is_present = account.email_is(&link.email);
    if link.is_used {
        return if is_present && account.email_verified { Ok(()) } else { Err(ConfirmEmailError::Invalid) };
    }
    if is_present {
        verify(conn, state, account, author).await?;
    } else if link.change_by.is_some() {
        let verified_at = Some(state.unit.clock.now());
        change_email::apply(conn, state, account, (&link.email, verified_at), session, author).await?;
        email_confirmations::remove_all(conn, account.account, Some(token)).await?;
    } else {
        return Err(ConfirmEmailError::Invalid);
    }
    Ok(email_confirmations::set_used(conn, token, state.unit.clock.now()).await?)
}

/// Marks the present address as verified.
pub(crate) async fn verify(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: &UserAccount,
    author: &Author,
) -> Result<(), StoreError> {
    if accounts::verify_email(conn, account.account, state.unit.clock.now()).await? {
        let target = Target::new(TargetKind::User, account.user).labelled(&account.email);
        let event = AuditEvent::new(Action::EmailVerified).on(target);
        write_account_audit(conn, state, account.account, author, &event).await?;
    }
    Ok(())
}
