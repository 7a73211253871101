//! Opens a session within the transaction of a sign-up, a log-in, an accepted invitation or a changed password.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{AccountId, SessionId};
use postgres::StoreError;

use super::attempt_limits::Caller;
use super::audit::write_audit;
use crate::domain::{
    Account, Action, AuditEvent, Author, CallerAddress, Credentials, KnownBrowser, Membership, Part, Role,
    Session, SessionToken, Target, TargetKind, browser_name,
};
use crate::mail::Mail;
use crate::state::State;
use crate::store::sessions::{self, NewSession, Origin};
use crate::store::{email_confirmations, second_factors, user_sessions};

/// Open sessions of one account. Opening more ends the oldest ones.
const OPEN_MAX: i64 = 100;
/// An account gets at most this many mails about new browsers in [`WARNINGS_WITHIN`].
pub(super) const WARNINGS_MAX: i64 = 5;
pub(super) const WARNINGS_WITHIN: TimeDelta = TimeDelta::hours(24);

pub(crate) struct OpenedSession {
    pub(crate) session: Session,
    /// The value of the cookie.
    pub(crate) token: SessionToken,
    /// Identifies the browser from now on.
    pub(crate) browser: KnownBrowser,
}

/// A session in the place of another one of the same browser.
pub(crate) struct ReplacedSession {
    pub(crate) session: Session,
    /// The value of the cookie.
    pub(crate) token: SessionToken,
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

/// Opens a session of a membership with a new token. Ends the browser's previous session, so that a token that an attacker
/// planted in the browser becomes useless.
pub(super) async fn open_session(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: &Credentials,
    membership: Membership,
    browser: &Browser,
) -> Result<OpenedSession, StoreError> {
    insert(conn, state, (account, membership), browser, Proved::Now { new_browser: None }).await
}

/// As [`open_session`], after a log-in. Warns a person who logs in from an unknown browser, by mail.
pub(super) async fn open_after_log_in(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: &Credentials,
    membership: Membership,
    caller: &Caller,
    browser: &Browser,
) -> Result<OpenedSession, StoreError> {
    let now = state.unit.clock.now();
    let is_new = !account.knows(caller.browser.as_ref(), now);
    let proved = Proved::Now { new_browser: Some(is_new) };
    let opened = insert(conn, state, (account, membership), browser, proved).await?;
    if is_new {
        warn(conn, state, account, browser).await?;
    }
    Ok(opened)
}

/// Opens a session that counts for this business only, after its identity provider has authenticated the user.
pub(super) async fn open_with_sso(
    conn: &mut AsyncPgConnection,
    state: &State,
    (account, membership): (&Credentials, Membership),
    browser: &Browser,
    authenticated_at: DateTime<Utc>,
) -> Result<OpenedSession, StoreError> {
    let proved = Proved::ByProvider { authenticated_at };
    insert(conn, state, (account, membership), browser, proved).await
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
    account: &Credentials,
    browser: &Browser,
) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    // Includes the session that was just opened.
    let of = Account::User(account.account);
    if sessions::count_of_new_browsers(conn, of, now - WARNINGS_WITHIN).await? > WARNINGS_MAX {
        tracing::info!(user_id = %account.user, "no mail about a new browser: there were too many");
        return Ok(());
    }
    let mail = Mail::NewBrowser {
        part: Part::Portal,
        browser: &browser_name(browser.user_agent.as_deref()),
        address: browser.address.as_ref().map(CallerAddress::as_str),
        at: now,
    };
    state.mailbox.queue(conn, account.business, &account.email, &mail, now).await
}

async fn insert(
    conn: &mut AsyncPgConnection,
    state: &State,
    (account, membership): (&Credentials, Membership),
    browser: &Browser,
    proved: Proved,
) -> Result<OpenedSession, StoreError> {
    let now = state.unit.clock.now();
    let (single_sign_on, authenticated_at, new_browser) = match proved {
        Proved::Now { new_browser } => (false, now, new_browser),
        Proved::ByProvider { authenticated_at } => (true, authenticated_at, None),
    };
    if let Some(token) = &browser.replaces {
        user_sessions::end_by_token(conn, token, state.user_sessions.at(now)).await?;
    }
    let session = Session {
        id: SessionId::generate(&state.unit.clock, &state.unit.entropy),
        user: membership.user,
        account: account.account,
        email: account.email.clone(),
        email_verified: account.email_verified,
        name: account.name.clone(),
        role: membership.role,
        business: membership.business,
        business_name: membership.business_name,
        created_at: now,
        expires_at: state.user_sessions.end_of(single_sign_on, now, now),
        authenticated_at,
        // The second factor of the provider counts.
        must_enrol: !single_sign_on && must_enrol(conn, state, account.account, membership.role).await?,
        single_sign_on,
        password_refused: false,
    };
    let token = SessionToken::generate(&state.unit.entropy);
    let new = new_session(&session, &token, browser.origin(new_browser));
    sessions::insert(conn, &new, now).await?;
    sessions::end_beyond(conn, &new, OPEN_MAX, now).await?;
    Ok(OpenedSession { session, token, browser: account.known_browser(now) })
}

fn new_session<'a>(session: &Session, token: &SessionToken, origin: Origin<'a>) -> NewSession<'a> {
    NewSession {
        id: session.id,
        digest: token.digest(),
        holder: session.account.into(),
        user: Some((session.business, session.user)),
        created_at: session.created_at,
        authenticated_at: session.authenticated_at,
        expires_at: session.expires_at,
        single_sign_on: session.single_sign_on,
        origin,
    }
}

/// Opens a session of another membership in the place of this one, with a new token. Nobody authenticates: the start of the
/// session, its last authentication and its origin stay. `None` if it has ended meanwhile.
pub(super) async fn replace_session(
    conn: &mut AsyncPgConnection,
    state: &State,
    session: &Session,
    membership: Membership,
    author: &Author,
) -> Result<Option<ReplacedSession>, StoreError> {
    let now = state.unit.clock.now();
    let Some((address, user_agent)) = user_sessions::end(conn, session, now).await? else {
        return Ok(None);
    };
    let closed = AuditEvent::new(Action::SessionClosed).on(Target::new(TargetKind::Session, session.id));
    write_audit(conn, state, session.business, author, &closed).await?;
    let opened = Session {
        id: SessionId::generate(&state.unit.clock, &state.unit.entropy),
        user: membership.user,
        role: membership.role,
        business: membership.business,
        business_name: membership.business_name,
        expires_at: state.user_sessions.end(session.created_at, now),
        must_enrol: must_enrol(conn, state, session.account, membership.role).await?,
        ..session.clone()
    };
    let token = SessionToken::generate(&state.unit.entropy);
    let address = address.map(CallerAddress::new);
    let origin = Origin { address: address.as_ref(), user_agent: user_agent.as_deref(), new_browser: None };
    sessions::insert(conn, &new_session(&opened, &token, origin), now).await?;
    email_confirmations::move_changes(conn, session.account, (session.id, opened.id)).await?;
    let author = Author::of(&opened, author.request).at(author.address.clone());
    let event = AuditEvent::new(Action::SessionOpened)
        .on(Target::new(TargetKind::Session, opened.id))
        .with("switched", true);
    write_audit(conn, state, opened.business, &author, &event).await?;
    Ok(Some(ReplacedSession { session: opened, token }))
}

/// Whether the role requires a second factor that the user does not have yet.
pub(super) async fn must_enrol(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: AccountId,
    role: Role,
) -> Result<bool, StoreError> {
    let is_required = state.second_factors.requires_user(role);
    Ok(is_required && !second_factors::is_enrolled(conn, Account::User(account)).await?)
}
