//! Mails to the person of an account.

use chrono::TimeDelta;
use diesel_async::AsyncPgConnection;
use identity::accounts::Credentials;
use identity::{Account, CallerAddress, browser_name, sessions};
use postgres::StoreError;

use crate::account::commands::visitor::Browser;
use crate::domain::Part;
use crate::mail::Mail;
use crate::state::State;
use crate::store::mails::MailOwner;
use crate::store::user_accounts;

/// An account gets at most this many mails about new browsers in [`WARNINGS_WITHIN`].
const WARNINGS_MAX: i64 = 5;
const WARNINGS_WITHIN: TimeDelta = TimeDelta::hours(24);

/// Queues a mail: in the queue of a user's oldest business, or of the person of the staff.
pub(crate) async fn mail_account(
    conn: &mut AsyncPgConnection,
    state: &State,
    (account, email): (Account, &str),
    mail: &Mail<'_>,
) -> Result<(), StoreError> {
    let owner: MailOwner = match account {
        Account::User(id) => match user_accounts::of(conn, id).await? {
            Some(user) => user.business.into(),
            None => return Ok(()),
        },
        Account::Staff(id) => id.into(),
    };
    state.mailbox.queue(conn, owner, email, mail, state.unit.clock.now()).await
}

/// Warns about a log-in from a new browser, unless there were many. The session is open already.
pub(crate) async fn warn_of_new_browser(
    conn: &mut AsyncPgConnection,
    state: &State,
    of: &Credentials,
    browser: &Browser,
) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    if sessions::count_of_new_browsers(conn, of.account, now - WARNINGS_WITHIN).await? > WARNINGS_MAX {
        tracing::info!(account_id = %of.account, "no mail about a new browser: there were too many");
        return Ok(());
    }
    let mail = Mail::NewBrowser {
        part: Part::of(of.account.realm()),
        browser: &browser_name(browser.user_agent.as_deref()),
        address: browser.address.as_ref().map(CallerAddress::as_str),
        at: now,
    };
    mail_account(conn, state, (of.account, &of.email), &mail).await
}

/// Tells the person that their password has changed.
pub(crate) async fn mail_password_changed(
    conn: &mut AsyncPgConnection,
    state: &State,
    of: &Credentials,
) -> Result<(), StoreError> {
    let at = state.unit.clock.now();
    let mail = match of.account {
        Account::User(_) => Mail::PasswordChanged { at },
        Account::Staff(_) => Mail::StaffPasswordChanged { at },
    };
    mail_account(conn, state, (of.account, &of.email), &mail).await
}
