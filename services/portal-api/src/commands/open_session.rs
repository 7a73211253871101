//! Opens a session within the transaction of a sign-up, a log-in, an accepted invitation or a changed password.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::SessionId;
use postgres::StoreError;

use super::attempt_limits::Caller;
use crate::domain::{
    Account, CallerAddress, Credentials, KnownBrowser, Part, Role, Session, SessionToken, browser_name,
};
use crate::mail::Mail;
use crate::state::State;
use crate::store::sessions::Origin;
use crate::store::{second_factors, sessions};

/// Open sessions of one user. Opening more ends the oldest ones.
const OPEN_MAX: i64 = 100;
/// A user gets at most this many mails about new browsers in [`WARNINGS_WITHIN`].
pub(super) const WARNINGS_MAX: i64 = 5;
pub(super) const WARNINGS_WITHIN: TimeDelta = TimeDelta::hours(24);

pub(crate) struct OpenedSession {
    pub(crate) session: Session,
    /// The value of the cookie.
    pub(crate) token: SessionToken,
    /// Identifies the browser from now on.
    pub(crate) browser: KnownBrowser,
}

/// The browser that will hold the session.
#[derive(Clone, Default)]
pub(crate) struct Browser {
    /// The session that it already has.
    pub(crate) replaces: Option<SessionToken>,
    /// Truncated.
    pub(crate) user_agent: Option<String>,
    pub(crate) address: Option<CallerAddress>,
}

impl Browser {
    pub(super) fn origin(&self, new_browser: Option<bool>) -> Origin<'_> {
        Origin { address: self.address.as_ref(), user_agent: self.user_agent.as_deref(), new_browser }
    }
}

/// Opens a session with a new token. Ends the browser's previous session, so that a token that an attacker planted in the
/// browser becomes useless.
pub(super) async fn open_session(
    conn: &mut AsyncPgConnection,
    state: &State,
    user: Credentials,
    browser: &Browser,
) -> Result<OpenedSession, StoreError> {
    insert(conn, state, user, browser, Proved::Now { new_browser: None }).await
}

/// As [`open_session`], after a log-in: a user whom the browser does not know is warned by mail.
pub(super) async fn open_after_log_in(
    conn: &mut AsyncPgConnection,
    state: &State,
    user: &Credentials,
    caller: &Caller,
    browser: &Browser,
) -> Result<OpenedSession, StoreError> {
    let now = state.unit.clock.now();
    let is_known = |known: &KnownBrowser| known.is_known(&user.password_hash, user.user, now);
    let is_new = !caller.browser.as_ref().is_some_and(is_known);
    let proved = Proved::Now { new_browser: Some(is_new) };
    let opened = insert(conn, state, user.clone(), browser, proved).await?;
    if is_new {
        warn(conn, state, user, browser).await?;
    }
    Ok(opened)
}

/// Opens a session that counts for this business only, after its identity provider has authenticated the user.
pub(super) async fn open_with_sso(
    conn: &mut AsyncPgConnection,
    state: &State,
    user: Credentials,
    browser: &Browser,
    authenticated_at: DateTime<Utc>,
) -> Result<OpenedSession, StoreError> {
    insert(conn, state, user, browser, Proved::ByProvider { authenticated_at }).await
}

/// How the user has proved who they are.
#[derive(Clone, Copy)]
enum Proved {
    Now {
        /// `None` after a sign-up and the like.
        new_browser: Option<bool>,
    },
    /// Perhaps hours ago.
    ByProvider { authenticated_at: DateTime<Utc> },
}

/// Queues the mail about a new browser, unless there were many.
async fn warn(
    conn: &mut AsyncPgConnection,
    state: &State,
    user: &Credentials,
    browser: &Browser,
) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    let key = (user.business, user.user);
    // Includes the session that was just opened.
    if sessions::count_of_new_browsers(conn, key, now - WARNINGS_WITHIN).await? > WARNINGS_MAX {
        tracing::info!(user_id = %user.user, "no mail about a new browser: there were too many");
        return Ok(());
    }
    let mail = Mail::NewBrowser {
        part: Part::Portal,
        browser: &browser_name(browser.user_agent.as_deref()),
        address: browser.address.as_ref().map(CallerAddress::as_str),
        at: now,
    };
    state.mailbox.queue(conn, user.business, &user.email, &mail, now).await
}

async fn insert(
    conn: &mut AsyncPgConnection,
    state: &State,
    user: Credentials,
    browser: &Browser,
    proved: Proved,
) -> Result<OpenedSession, StoreError> {
    let now = state.unit.clock.now();
    let (single_sign_on, authenticated_at, new_browser) = match proved {
        Proved::Now { new_browser } => (false, now, new_browser),
        Proved::ByProvider { authenticated_at } => (true, authenticated_at, None),
    };
    let known = KnownBrowser::issue(&user.password_hash, user.user, now);
    if let Some(token) = &browser.replaces {
        sessions::revoke(conn, token, state.user_sessions.at(now)).await?;
    }
    let account = Account::User { business: user.business, user: user.user };
    let session = Session {
        id: SessionId::generate(&state.unit.clock, &state.unit.entropy),
        user: user.user,
        email: user.email,
        email_verified: user.email_verified,
        name: user.name,
        role: user.role,
        business: user.business,
        business_name: user.business_name,
        created_at: now,
        expires_at: state.user_sessions.end_of(single_sign_on, now, now),
        authenticated_at,
        // The second factor of the provider counts.
        must_enrol: !single_sign_on && must_enrol(conn, state, account, user.role).await?,
        single_sign_on,
        password_refused: false,
    };
    let token = SessionToken::generate(&state.unit.entropy);
    sessions::insert(conn, &session, &token, &browser.origin(new_browser)).await?;
    sessions::revoke_beyond(conn, &session, OPEN_MAX, now).await?;
    Ok(OpenedSession { session, token, browser: known })
}

/// Whether the role requires a second factor that the user does not have yet.
pub(super) async fn must_enrol(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: Account,
    role: Role,
) -> Result<bool, StoreError> {
    Ok(state.second_factors.requires_user(role) && !second_factors::is_enrolled(conn, account).await?)
}
