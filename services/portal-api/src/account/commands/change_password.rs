//! A logged-in person changes their password. All their sessions end, and the current browser gets a new one.

use chrono::TimeDelta;
use diesel_async::AsyncPgConnection;
use domain::Email;
use identity::accounts::{self, Credentials};
use identity::attempts::{self, Admission, Attempt};
use identity::passwords::{Password, PasswordError, Requester};
use identity::{Account, password_links, second_factors, sessions};
use postgres::StoreError;

use crate::account::commands::account_mail::mail_password_changed;
use crate::account::commands::attempt_limits;
use crate::account::commands::failed_proofs::{self, FailedProof};
use crate::account::commands::open_session::{OpenedSession, open_with_new_password};
use crate::account::commands::own_account::OwnAccount;
use crate::account::commands::visitor::Browser;
use crate::audit::commands::audit::write_entry;
use crate::audit::domain::{Action, AuditEvent, Target};
use crate::state::State;
use crate::store::email_confirmations::{self, Changes};
use crate::store::{memberships, staff};

pub(crate) struct ChangePassword {
    pub(crate) current: Password,
    pub(crate) new: Password,
    pub(crate) browser: Browser,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangePasswordError {
    #[error("the current password is wrong")]
    Wrong,
    #[error("too many wrong passwords")]
    TooMany { wait: TimeDelta },
    #[error("the account no longer exists")]
    UnknownAccount,
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A wrong current password counts as a failed log-in: somebody at an unattended page must not get more guesses than a
/// stranger.
pub(crate) async fn change_password(
    state: &State,
    own: &OwnAccount,
    request: &ChangePassword,
) -> Result<OpenedSession, ChangePasswordError> {
    let account = own.holder.account;
    let email = Email::parse(&own.holder.email).ok_or(ChangePasswordError::UnknownAccount)?;
    let of = (account.realm(), &email);
    let subjects = attempt_limits::subjects(state, &attempts::LOG_IN, of, &own.caller).await?;
    let counted = match attempt_limits::admit(state, &subjects).await? {
        Admission::Granted(counted) => counted,
        Admission::RetryAfter(wait) => return Err(ChangePasswordError::TooMany { wait }),
    };
    let opened = check_and_change(state, own, request, &counted).await;
    match &opened {
        Ok(_) => {
            state.mailbox.wake_sender();
            tracing::info!(account_id = %account, "password changed");
        }
        Err(ChangePasswordError::Wrong) => {
            failed_proofs::record(state, &own.holder, own.author(), FailedProof::CurrentPassword).await;
        }
        Err(_) => attempt_limits::cancel(state, &counted).await,
    }
    opened
}

async fn check_and_change(
    state: &State,
    own: &OwnAccount,
    request: &ChangePassword,
    counted: &[Attempt],
) -> Result<OpenedSession, ChangePasswordError> {
    let account = own.holder.account;
    let database = &state.unit.database;
    let found = database.read(async |conn| accounts::credentials(conn, account).await).await;
    let found: Option<Credentials> = found?;
    let before = found.ok_or(ChangePasswordError::UnknownAccount)?;
    let requester = Requester::Known(own.holder.email.clone());
    let stored_hash = before.password_hash.as_deref();
    if !state.passwords.verify(&request.current, stored_hash, requester.clone()).await? {
        return Err(ChangePasswordError::Wrong);
    }
    let hash = state.passwords.hash(&request.new, requester).await?;
    database
        .transaction(async |conn| {
            if let Account::Staff(_) = account {
                // As changes of the staff lock: they may issue or consume the person's link.
                staff::lock(conn).await?;
            }
            if !accounts::lock_unchanged(conn, account, before.password_hash.as_deref()).await? {
                // Another change came first: the entered password is no longer the current one.
                return Err(ChangePasswordError::Wrong);
            }
            accounts::set_password(conn, account, &hash).await?;
            attempts::cancel(conn, counted).await?;
            sessions::end_all(conn, account.into(), None, state.unit.clock.now()).await?;
            let event = AuditEvent::new(Action::PasswordChanged).on(Target::account(account, &before.email));
            write_entry(conn, state, account, own.author(), &event).await?;
            end_requests(conn, &before).await?;
            mail_password_changed(conn, state, &before).await?;
            open(conn, state, own, &hash, &request.browser).await
        })
        .await
}

/// A thief of the old password may have requested them.
async fn end_requests(conn: &mut AsyncPgConnection, of: &Credentials) -> Result<(), StoreError> {
    let Account::User(user) = of.account else { return password_links::remove_all(conn, of.account).await };
    // An unverified address may be somebody else's, who takes the account over by the link.
    if of.email_verified {
        password_links::remove_all(conn, of.account).await?;
    }
    email_confirmations::remove_changes(conn, user, Changes::All).await
}

async fn open(
    conn: &mut AsyncPgConnection,
    state: &State,
    own: &OwnAccount,
    hash: &str,
    browser: &Browser,
) -> Result<OpenedSession, ChangePasswordError> {
    let (account, user) = (own.holder.account, own.session.user);
    if let Some(user) = user {
        memberships::account_of(conn, user).await?.ok_or(ChangePasswordError::UnknownAccount)?;
    }
    let opened = open_with_new_password(conn, state, (account, hash), user, browser).await?;
    // The password alone does not confirm a session of an account with a second factor.
    if second_factors::is_enrolled(conn, account).await? {
        sessions::set_authenticated(conn, opened.id, own.authenticated_at).await?;
    }
    Ok(opened)
}
