//! Whose tries of a password, and whose wishes for a link, are counted together.

use domain::UserId;
use postgres::StoreError;

use crate::app::App;
use crate::domain::{CallerAddress, Email, KnownBrowser, Scope, Subject};
use crate::store::users;

/// Where somebody calls from.
#[derive(Clone, Default)]
pub(crate) struct Origin {
    /// `None` where there is no connection, as in a unit test.
    pub(crate) address: Option<CallerAddress>,
    /// As the browser says; it may be anybody's.
    pub(crate) browser: Option<KnownBrowser>,
}

impl Origin {
    pub(super) fn address_text(&self) -> String {
        self.address.map(CallerAddress::text).unwrap_or_default()
    }
}

/// The scopes of one kind of attempts.
pub(super) struct Scopes {
    pub(super) browser: Scope,
    pub(super) account_and_address: Scope,
    pub(super) account: Scope,
    pub(super) address: Scope,
}

pub(super) const LOG_IN: Scopes = Scopes {
    browser: Scope::LogInBrowser,
    account_and_address: Scope::LogInAccountAddress,
    account: Scope::LogInAccount,
    address: Scope::LogInAddress,
};
pub(super) const RESET: Scopes = Scopes {
    browser: Scope::ResetBrowser,
    account_and_address: Scope::ResetAccountAddress,
    account: Scope::ResetAccount,
    address: Scope::ResetAddress,
};

/// A browser that the account logged in from before is counted by itself: what strangers do elsewhere does not lock it out.
pub(super) async fn subjects(
    app: &App,
    scopes: &Scopes,
    email: &Email,
    origin: &Origin,
) -> Result<Vec<Subject>, StoreError> {
    if let Some(browser) = &origin.browser
        && let Some(user) = user_of(app, email, browser).await?
    {
        return Ok(vec![Subject::browser(scopes.browser, user, browser)]);
    }
    let mut subjects = vec![
        Subject::account(scopes.account, email),
        Subject::account_at(scopes.account_and_address, email, &origin.address_text()),
    ];
    let address = origin.address.filter(|_| app.limits.per_address);
    subjects.extend(address.map(|address| Subject::address(scopes.address, address)));
    Ok(subjects)
}

/// The user of the account, if they logged in from this browser.
async fn user_of(app: &App, email: &Email, browser: &KnownBrowser) -> Result<Option<UserId>, StoreError> {
    let now = app.clock.now();
    let found = app.database.read(async |conn| users::credentials(conn, email).await).await;
    let account: Option<users::Credentials> = found?;
    let known = account.filter(|account| browser.is_known(&account.password_hash, account.user, now));
    Ok(known.map(|account| account.user))
}
