//! Counts attempts to log in, to enter a code, and to reset a password.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{AccountId, Email};
use identity::accounts::{self, Credentials};
use identity::attempts::{self, Admission, Attempt, Scopes, Subject};
use identity::passwords::Requester;
use identity::{Account, CallerAddress, KnownBrowser, Realm};
use postgres::StoreError;

use crate::state::State;

/// Where a call comes from.
#[derive(Clone, Default)]
pub(crate) struct Caller {
    /// `None` without a connection, as in unit tests.
    pub(crate) address: Option<CallerAddress>,
    /// As claimed by the browser; not verified.
    pub(crate) browser: Option<KnownBrowser>,
}

impl Caller {
    pub(crate) fn address_text(&self) -> String {
        self.address.as_ref().map(CallerAddress::as_str).unwrap_or_default().to_owned()
    }
}

/// The limits that an attempt counts against. A known browser of a user's account has a limit of its own, so that attempts of
/// strangers do not lock it out.
pub(crate) async fn subjects(
    state: &State,
    scopes: &Scopes,
    of: (Realm, &Email),
    caller: &Caller,
) -> Result<Vec<Subject>, StoreError> {
    if let Some(browser) = &caller.browser
        && let Some(account) = account_of(state, of, browser).await?
    {
        return Ok(vec![Subject::browser(scopes.browser, account, browser)]);
    }
    let account = Subject::account(scopes.account, of);
    let account_at = Subject::account_at(scopes.account_and_address, of, &caller.address_text());
    Ok([account, account_at].into_iter().chain(of_address(state, scopes, caller)).collect())
}

pub(crate) fn of_address(state: &State, scopes: &Scopes, caller: &Caller) -> Option<Subject> {
    let address = caller.address.as_ref().filter(|_| state.limit_per_address)?;
    Some(Subject::address(scopes.address, address))
}

/// The user's account with the address, if its person has logged in from this browser.
async fn account_of(
    state: &State,
    of: (Realm, &Email),
    browser: &KnownBrowser,
) -> Result<Option<AccountId>, StoreError> {
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    let found = database.read(async |conn| accounts::by_email(conn, of).await).await;
    let found: Option<Credentials> = found?;
    Ok(found.filter(|found| found.knows(Some(browser), now)).and_then(|found| match found.account {
        Account::User(id) => Some(id),
        Account::Staff(_) => None,
    }))
}

/// Where the password of a caller without a session or a link waits. A known browser counts for the account, and an address for a day
/// after a log-in.
pub(crate) async fn requester(
    state: &State,
    (email, has_known_browser): (&Email, bool),
    address: Option<&CallerAddress>,
) -> Result<Requester, StoreError> {
    if has_known_browser {
        return Ok(Requester::Known(email.key()));
    }
    let Some(address) = address else { return Ok(Requester::Stranger(String::new())) };
    let (success, now) =
        (Subject::address(attempts::LOG_IN_SUCCESS_ADDRESS, address), state.unit.clock.now());
    let database = &state.unit.database;
    let reached = database.read(async |conn| attempts::wait(conn, &success, now).await).await?;
    let name = address.as_str().to_owned();
    Ok(if reached.is_some() { Requester::Known(name) } else { Requester::Stranger(name) })
}

/// The caller has entered the right password of an account.
pub(crate) async fn record_success(
    conn: &mut AsyncPgConnection,
    caller: &Caller,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let Some(address) = &caller.address else { return Ok(()) };
    attempts::record(conn, Subject::address(attempts::LOG_IN_SUCCESS_ADDRESS, address), now).await
}

/// Counts an attempt in a transaction of its own.
pub(crate) async fn admit(state: &State, subjects: &[Subject]) -> Result<Admission, StoreError> {
    let now = state.unit.clock.now();
    state.unit.database.transaction(async |conn| attempts::admit(conn, subjects, now).await).await
}

/// After a log-in: cancels its own attempt, and forgets the account's failures. Those of the address stay, because they may
/// have been on other accounts.
pub(crate) async fn clear_failures(
    conn: &mut AsyncPgConnection,
    subjects: &[Subject],
    counted: &[Attempt],
) -> Result<(), StoreError> {
    attempts::cancel(conn, counted).await?;
    for subject in subjects.iter().filter(|subject| subject.scope != attempts::LOG_IN.address) {
        attempts::clear(conn, *subject).await?;
    }
    Ok(())
}

/// Cancels attempts that failed because of an error in the service.
pub(crate) async fn cancel(state: &State, counted: &[Attempt]) {
    let database = &state.unit.database;
    let cancelled: Result<(), StoreError> =
        database.transaction(async |conn| attempts::cancel(conn, counted).await).await;
    if let Err(error) = cancelled {
        tracing::warn!(%error, "cancelling an attempt failed: it stays counted");
    }
}
