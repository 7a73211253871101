//! Console sessions. Neither a password nor a token stays in a browser: the cookie has a secret of its own, which expires after
//! hours. The sessions of the configured token also end when that token changes.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::SessionId;
use hmac::{Hmac, KeyInit, Mac};
use postgres::StoreError;
use settings::Secret;
use sha2::Sha256;

use super::attempt_limits::Caller;
use super::audit::write_operator_audit;
use super::open_session::{Browser, WARNINGS_MAX, WARNINGS_WITHIN};
use crate::domain::{
    Account, Action, AuditEvent, Author, CallerAddress, KnownBrowser, OperatorActor, OperatorRole, Part,
    SessionHolder, SessionToken, StaffCredentials, browser_name,
};
use crate::mail::Mail;
use crate::state::State;
use crate::store::console_sessions::{self, StaffSession};
use crate::store::sessions::{self, NewSession};
use crate::store::{second_factors, staff};

/// Open sessions of one person, and of the configured token. Opening more ends the oldest ones.
const OF_PERSON_MAX: i64 = 50;
const OF_CONFIGURATION_MAX: i64 = 1_000;

pub(crate) struct OpenedConsole {
    pub(crate) session: SessionId,
    /// The value of the cookie.
    pub(crate) token: SessionToken,
    pub(crate) expires_at: DateTime<Utc>,
    /// Identifies the person's browser from now on. `None` for the configured token.
    pub(crate) browser: Option<KnownBrowser>,
}

/// The holder of an open session, with the present role.
pub(crate) struct ConsoleSession {
    pub(crate) id: SessionId,
    pub(crate) holder: SessionHolder,
    pub(crate) actor: OperatorActor,
    pub(crate) role: OperatorRole,
    /// Even when in use.
    pub(crate) expires_at: DateTime<Utc>,
    /// Of the person.
    pub(crate) display_name: Option<String>,
    /// When the person last authenticated. With the configured token: when the session was opened.
    pub(crate) authenticated_at: DateTime<Utc>,
    /// Whether the role requires a second factor that the person does not have yet.
    pub(crate) must_enrol: bool,
    /// Whether the identity provider has authenticated the person. Its second factor counts, not ours.
    pub(crate) single_sign_on: bool,
}

/// How the holder of a new session has proved who they are.
#[derive(Clone, Copy)]
pub(super) enum Proved {
    /// With the password or the configured token.
    Now {
        /// `None` unless it is a log-in of a person.
        new_browser: Option<bool>,
    },
    /// By the identity provider, perhaps hours ago.
    ByProvider { authenticated_at: DateTime<Utc> },
}

/// Opens a session after the configured token was checked. Ends the browser's previous session.
pub(crate) async fn open(
    state: &State,
    browser: &Browser,
    author: &Author,
) -> Result<OpenedConsole, StoreError> {
    let (event, proved) = (AuditEvent::new(Action::SessionOpened), Proved::Now { new_browser: None });
    let holder = SessionHolder::Configuration;
    let database = &state.unit.database;
    let opened: Result<OpenedConsole, StoreError> = database
        .transaction(async |conn| insert(conn, state, holder, (browser, proved), author, &event).await)
        .await;
    let opened = opened?;
    tracing::info!("operator logged in with the configured token");
    Ok(opened)
}

/// Opens a session within the caller's transaction.
pub(super) async fn insert(
    conn: &mut AsyncPgConnection,
    state: &State,
    holder: SessionHolder,
    (browser, proved): (&Browser, Proved),
    author: &Author,
    event: &AuditEvent,
) -> Result<OpenedConsole, StoreError> {
    if let Some(replaced) = &browser.replaces {
        remove(conn, state, replaced).await?;
    }
    let parts = (&state.unit.clock, &state.unit.entropy);
    write_operator_audit(conn, parts, None, author, event).await?;
    let (now, token) = (state.unit.clock.now(), SessionToken::generate(&state.unit.entropy));
    let (single_sign_on, authenticated_at, new_browser) = match proved {
        Proved::Now { new_browser } => (false, now, new_browser),
        Proved::ByProvider { authenticated_at } => (true, authenticated_at, None),
    };
    let (digest, max) = match holder {
        SessionHolder::Account(_) => (token.digest(), OF_PERSON_MAX),
        SessionHolder::Configuration => (digest(&state.operator_token, &token), OF_CONFIGURATION_MAX),
    };
    let new = NewSession {
        id: SessionId::generate(parts.0, parts.1),
        digest,
        holder,
        user: None,
        created_at: now,
        authenticated_at,
        expires_at: now + state.console_sessions.max,
        single_sign_on,
        origin: browser.origin(new_browser),
    };
    sessions::insert(conn, &new, now).await?;
    sessions::end_beyond(conn, &new, max, now).await?;
    Ok(OpenedConsole { session: new.id, expires_at: new.expires_at, token, browser: None })
}

/// As [`insert`], after a log-in. Warns a person who logs in from an unknown browser, by mail.
pub(super) async fn insert_after_log_in(
    conn: &mut AsyncPgConnection,
    state: &State,
    person: &StaffCredentials,
    (caller, browser): (&Caller, &Browser),
    author: &Author,
    event: AuditEvent,
) -> Result<OpenedConsole, StoreError> {
    let now = state.unit.clock.now();
    let hash = person.password_hash.as_deref().unwrap_or_default();
    let is_new = !caller.is_known_to(hash, person.id, now);
    let event = if is_new { event.with("newBrowser", true) } else { event };
    let proved = Proved::Now { new_browser: Some(is_new) };
    let opened = insert(conn, state, person.id.into(), (browser, proved), author, &event).await?;
    if is_new {
        warn(conn, state, person, browser).await?;
    }
    Ok(OpenedConsole { browser: Some(KnownBrowser::issue(hash, person.id, now)), ..opened })
}

/// Queues the mail about a new browser, unless there were many.
async fn warn(
    conn: &mut AsyncPgConnection,
    state: &State,
    person: &StaffCredentials,
    browser: &Browser,
) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    // Includes the session that was just opened.
    let of = Account::Staff(person.id);
    if sessions::count_of_new_browsers(conn, of, now - WARNINGS_WITHIN).await? > WARNINGS_MAX {
        tracing::info!(staff_id = %person.id, "no mail about a new browser: there were too many");
        return Ok(());
    }
    let mail = Mail::NewBrowser {
        part: Part::Console,
        browser: &browser_name(browser.user_agent.as_deref()),
        address: browser.address.as_ref().map(CallerAddress::as_str),
        at: now,
    };
    state.mailbox.queue(conn, person.id, &person.email, &mail, now).await
}

/// The session of a cookie; `None` if it has ended. A page that refreshes itself while nobody uses it is no use.
pub(crate) async fn find(
    state: &State,
    token: &SessionToken,
    is_attended: bool,
) -> Result<Option<ConsoleSession>, StoreError> {
    let now = state.unit.clock.now();
    let open = state.console_sessions.at(now);
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let Some(found) = console_sessions::of_person(conn, token, open).await? else {
                return of_configuration(conn, state, token, is_attended).await;
            };
            staff::mark_seen(conn, found.id, now).await?;
            if is_attended && open.is_due(found.last_seen_at) {
                sessions::mark_used(conn, found.session, None, now).await?;
            }
            of_person(conn, state, found).await.map(Some)
        })
        .await
}

async fn of_configuration(
    conn: &mut AsyncPgConnection,
    state: &State,
    token: &SessionToken,
    is_attended: bool,
) -> Result<Option<ConsoleSession>, StoreError> {
    let digest = digest(&state.operator_token, token);
    let open = state.console_sessions.at(state.unit.clock.now());
    let Some(found) = console_sessions::of_configuration(conn, digest, open).await? else { return Ok(None) };
    if is_attended && open.is_due(found.last_seen_at) {
        sessions::mark_used(conn, found.session, None, open.now).await?;
    }
    Ok(Some(ConsoleSession {
        id: found.session,
        holder: SessionHolder::Configuration,
        actor: OperatorActor::Configuration,
        role: OperatorRole::Administrator,
        expires_at: found.expires_at,
        display_name: None,
        authenticated_at: found.created_at,
        must_enrol: false,
        single_sign_on: false,
    }))
}

/// Whether the role requires a second factor that the person does not have. That of the provider counts.
pub(super) async fn must_enrol(
    conn: &mut AsyncPgConnection,
    state: &State,
    session: &StaffSession,
) -> Result<bool, StoreError> {
    let is_required = !session.single_sign_on && state.second_factors.requires_staff(session.role);
    Ok(is_required && !second_factors::is_enrolled(conn, Account::Staff(session.id)).await?)
}

async fn of_person(
    conn: &mut AsyncPgConnection,
    state: &State,
    found: StaffSession,
) -> Result<ConsoleSession, StoreError> {
    Ok(ConsoleSession {
        must_enrol: must_enrol(conn, state, &found).await?,
        id: found.session,
        holder: found.id.into(),
        actor: OperatorActor::Person { id: found.id, email: found.email },
        role: found.role,
        expires_at: found.expires_at,
        display_name: Some(found.name),
        authenticated_at: found.authenticated_at,
        single_sign_on: found.single_sign_on,
    })
}

/// Ends the author's session.
pub(crate) async fn close(state: &State, token: &SessionToken, author: &Author) -> Result<(), StoreError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let closed: Result<(), StoreError> = state
        .unit
        .database
        .transaction(async |conn| {
            remove(conn, state, token).await?;
            write_operator_audit(conn, parts, None, author, &AuditEvent::new(Action::SessionClosed)).await
        })
        .await;
    closed?;
    tracing::info!("operator logged out");
    Ok(())
}

async fn remove(conn: &mut AsyncPgConnection, state: &State, token: &SessionToken) -> Result<(), StoreError> {
    let digests = [token.digest(), digest(&state.operator_token, token)];
    console_sessions::end(conn, digests, state.unit.clock.now()).await
}

/// The stored form of a token. Depends on the operator's token, so that changing that ends all sessions.
fn digest(operator_token: &Secret, token: &SessionToken) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(operator_token.expose().as_bytes())
        .unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"));
    mac.update(token.expose().as_bytes());
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use domain::Entropy;

    use super::*;

    #[test]
    fn a_new_operator_token_ends_all_sessions() {
        let token = SessionToken::generate(&Entropy::seeded(3));
        let before = digest(&Secret::new("the operator's token"), &token);
        assert_eq!(before, digest(&Secret::new("the operator's token"), &token));
        assert_ne!(before, digest(&Secret::new("the operator's next token"), &token));
    }
}
