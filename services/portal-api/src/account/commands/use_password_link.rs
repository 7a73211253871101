//! A person sets their password with a link: a new one, or the first one of a person of the staff.

use diesel_async::AsyncPgConnection;
use domain::{AccountId, Email};
use identity::accounts::{self, Credentials};
use identity::attempts::{self, Subject};
use identity::password_links::{self, UsedLink};
use identity::passwords::{Password, PasswordError, Requester};
use identity::{Account, KnownBrowser, LinkToken, Realm, second_factors, sessions};
use postgres::StoreError;

use crate::account::commands::account_mail::mail_password_changed;
use crate::account::commands::confirm_email::verify;
use crate::account::commands::visitor::Visitor;
use crate::audit::commands::audit::{write_account_audit, write_entry};
use crate::audit::domain::{Action, AuditEvent, Author, Target};
use crate::domain::{OperatorActor, UserAccount};
use crate::state::State;
use crate::store::email_confirmations::{self, Changes};
use crate::store::{staff, user_accounts};

#[derive(Debug, thiserror::Error)]
pub(crate) enum UseLinkError {
    #[error("the link is used, replaced, expired or invalid")]
    Invalid,
    #[error("the password is the person's e-mail address")]
    LikeEmail,
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Consumes a link of the visitor's realm, sets the password, ends all sessions of the person, and clears their failed log-ins from
/// this address. Returns the browser as a known one.
pub(crate) async fn use_link(
    state: &State,
    token: &LinkToken,
    password: &Password,
    visitor: &Visitor,
) -> Result<KnownBrowser, UseLinkError> {
    let now = state.unit.clock.now();
    // Checked before hashing the password, which is expensive.
    let found = find(state, token, visitor.realm).await?.ok_or(UseLinkError::Invalid)?;
    let account = found.account;
    let email = Email::parse(&found.email).ok_or(UseLinkError::Invalid)?;
    if password.is_like(&email) {
        return Err(UseLinkError::LikeEmail);
    }
    let hash = state.passwords.hash(password, Requester::Known(account.to_string())).await?;
    let database = &state.unit.database;
    let changed: Result<(), UseLinkError> = database
        .transaction(async |conn| {
            if visitor.realm == Realm::Staff {
                // Changes of the staff may consume or replace the link, and lock in this order.
                staff::lock(conn).await?;
            }
            let link = password_links::consume(conn, account, token).await?.ok_or(UseLinkError::Invalid)?;
            let before = accounts::credentials(conn, account).await?.ok_or(UseLinkError::Invalid)?;
            let (author, action) = match account {
                Account::User(id) => {
                    (prepare_user(conn, state, id, &link, visitor).await?, Action::PasswordReset)
                }
                Account::Staff(id) => {
                    let actor = OperatorActor::Person { id, email: before.email.clone() };
                    (visitor.operator(actor), Action::StaffPasswordSet)
                }
            };
            accounts::set_password(conn, account, &hash).await?;
            password_links::remove_all(conn, account).await?;
            sessions::end_all(conn, account.into(), None, now).await?;
            clear_failures(conn, &before, visitor).await?;
            let event = AuditEvent::new(action).on(Target::account(account, &before.email));
            write_entry(conn, state, account, &author, &event).await?;
            // The first one changes nothing.
            if before.password_hash.is_some() {
                mail_password_changed(conn, state, &before).await?;
            }
            Ok(())
        })
        .await;
    changed?;
    state.mailbox.wake_sender();
    tracing::info!(account_id = %account, "password set with a link");
    Ok(KnownBrowser::issue(&hash, account, now))
}

async fn find(state: &State, token: &LinkToken, realm: Realm) -> Result<Option<Credentials>, StoreError> {
    let now = state.unit.clock.now();
    state
        .unit
        .database
        .read(async |conn| match password_links::find(conn, token, now).await? {
            Some(account) if account.realm() == realm => accounts::credentials(conn, account).await,
            _ => Ok(None),
        })
        .await
}

/// A mailed link also verifies the address. Returns the user as the author.
async fn prepare_user(
    conn: &mut AsyncPgConnection,
    state: &State,
    id: AccountId,
    link: &UsedLink,
    visitor: &Visitor,
) -> Result<Author, UseLinkError> {
    let user = user_accounts::of(conn, id).await?.ok_or(UseLinkError::Invalid)?;
    let author = Author::user(user.user, &user.email, visitor.request).at(visitor.caller.address.clone());
    if let Some(mailed_to) = &link.mailed_to {
        // The address may have changed since the mail.
        if Email::parse(&user.email).is_none_or(|email| email.key() != *mailed_to) {
            return Err(UseLinkError::Invalid);
        }
        if !user.email_verified {
            end_second_factor(conn, state, &user, &author).await?;
        }
        verify(conn, state, &user, &author).await?;
    }
    // A thief of the old password may have requested one.
    email_confirmations::remove_changes(conn, id, Changes::All).await?;
    Ok(author)
}

/// Before the address was verified, a stranger may have set up the second factor.
async fn end_second_factor(
    conn: &mut AsyncPgConnection,
    state: &State,
    of: &UserAccount,
    author: &Author,
) -> Result<(), StoreError> {
    let account = Account::User(of.account);
    if second_factors::remove(conn, account).await? {
        let event = AuditEvent::new(Action::SecondFactorReset).on(Target::account(account, &of.email));
        write_account_audit(conn, state, of.account, author, &event).await?;
    }
    Ok(())
}

/// Wrong codes of users stay counted: a thief of the inbox could reset the password again and again to guess more.
async fn clear_failures(
    conn: &mut AsyncPgConnection,
    of: &Credentials,
    visitor: &Visitor,
) -> Result<(), StoreError> {
    let Some(email) = Email::parse(&of.email) else { return Ok(()) };
    let password = (attempts::LOG_IN.account, attempts::LOG_IN.account_and_address);
    let code = (attempts::SECOND_FACTOR.account, attempts::SECOND_FACTOR.account_and_address);
    let cleared = match visitor.realm {
        Realm::User => vec![password],
        Realm::Staff => vec![password, code],
    };
    let (of, address) = ((visitor.realm, &email), visitor.caller.address_text());
    // The links that were counted are void.
    attempts::clear(conn, Subject::account(attempts::RESET.account, of)).await?;
    for (account, account_at) in cleared {
        attempts::clear(conn, Subject::account(account, of)).await?;
        attempts::clear(conn, Subject::account_at(account_at, of, &address)).await?;
    }
    Ok(())
}
