//! Opens sessions of both realms, within the transaction of a log-in, a sign-up, an accepted invitation or a changed password.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::SessionId;
use identity::accounts::Credentials;
use identity::sessions::{self, NewSession, Origin, SessionHolder};
use identity::{Account, CallerAddress, KnownBrowser, Realm, SessionToken, second_factors};
use postgres::StoreError;
use settings::Secret;

use crate::account::commands::account_mail::warn_of_new_browser;
use crate::account::commands::destination::Destination;
use crate::account::commands::visitor::{Browser, Visitor};
use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::domain::{Membership, Session, UserKey};
use crate::state::State;
use crate::store::{email_confirmations, user_sessions};

pub(crate) struct OpenedSession {
    pub(crate) id: SessionId,
    /// The value of the cookie.
    pub(crate) token: SessionToken,
    pub(crate) expires_at: DateTime<Utc>,
    /// Identifies the browser from now on, if the person has entered a password in it.
    pub(crate) browser: Option<KnownBrowser>,
}

/// A session that replaces another one of the same browser.
pub(crate) struct ReplacedSession {
    pub(crate) session: Session,
    /// The value of the cookie.
    pub(crate) token: SessionToken,
}

/// How the holder of a new session has proved who they are.
#[derive(Clone, Copy)]
pub(crate) enum Proved<'a> {
    /// With a password.
    Now {
        /// `None` unless it is a log-in of a person.
        new_browser: Option<bool>,
    },
    /// With this configured token: the session ends when it is no longer accepted.
    ByToken(&'a Secret),
    /// By the identity provider, perhaps hours ago. A session of a user then counts for this business only.
    ByProvider { authenticated_at: DateTime<Utc> },
}

/// Opens a session with a new token; that of a user is one of a membership. Ends the browser's previous session, so that a token that an
/// attacker planted in the browser becomes useless.
pub(crate) async fn open(
    conn: &mut AsyncPgConnection,
    state: &State,
    (holder, user): (SessionHolder, Option<UserKey>),
    browser: &Browser,
    proved: Proved<'_>,
) -> Result<OpenedSession, StoreError> {
    let (now, token) = (state.unit.clock.now(), SessionToken::generate(&state.unit.entropy));
    if let Some(replaced) = &browser.replaces {
        end(conn, state, holder.realm(), replaced).await?;
    }
    let (single_sign_on, authenticated_at, new_browser) = match proved {
        Proved::Now { new_browser } => (false, now, new_browser),
        Proved::ByToken(_) => (false, now, None),
        Proved::ByProvider { authenticated_at } => (true, authenticated_at, None),
    };
    let new = NewSession {
        id: SessionId::generate(&state.unit.clock, &state.unit.entropy),
        digest: match proved {
            Proved::ByToken(proof) => token.digest_under(proof),
            Proved::Now { .. } | Proved::ByProvider { .. } => token.digest(),
        },
        holder,
        user,
        created_at: now,
        authenticated_at,
        expires_at: match holder.realm() {
            Realm::User => state.user_sessions.end_of(single_sign_on, now, now),
            Realm::Staff => now + state.console_sessions.max,
        },
        single_sign_on,
        origin: browser.origin(new_browser),
    };
    user_sessions::insert(conn, &new, now).await?;
    sessions::end_beyond(conn, &new, open_max(holder), now).await?;
    Ok(OpenedSession { id: new.id, expires_at: new.expires_at, token, browser: None })
}

/// Opening more sessions ends the oldest ones.
fn open_max(holder: SessionHolder) -> i64 {
    match holder {
        SessionHolder::Account(Account::User(_)) => 100,
        SessionHolder::Account(Account::Staff(_)) => 50,
        SessionHolder::Configuration => 1_000,
    }
}

/// As [`open`], in the browser in which the person has just chosen the password with this hash.
pub(crate) async fn open_with_new_password(
    conn: &mut AsyncPgConnection,
    state: &State,
    (account, password_hash): (Account, &str),
    user: Option<UserKey>,
    browser: &Browser,
) -> Result<OpenedSession, StoreError> {
    let proved = Proved::Now { new_browser: None };
    let opened = open(conn, state, (account.into(), user), browser, proved).await?;
    let known = KnownBrowser::issue(password_hash, account, state.unit.clock.now());
    Ok(OpenedSession { browser: Some(known), ..opened })
}

/// As [`open`], after a log-in. Writes the event, and warns a person who logs in from an unknown browser, by mail.
pub(crate) async fn open_after_log_in(
    conn: &mut AsyncPgConnection,
    state: &State,
    of: &Credentials,
    to: &Destination,
    visitor: &Visitor,
    event: AuditEvent,
) -> Result<OpenedSession, StoreError> {
    let now = state.unit.clock.now();
    let is_new = !visitor.is_known_to(of, now);
    let proved = Proved::Now { new_browser: Some(is_new) };
    let opened = open(conn, state, (of.account.into(), to.user()), &visitor.browser, proved).await?;
    let author = to.author(&of.email, visitor);
    to.write_opened(conn, state, &author, event, (opened.id, is_new)).await?;
    if is_new {
        warn_of_new_browser(conn, state, of, &visitor.browser).await?;
    }
    Ok(OpenedSession { browser: Some(of.known_browser(now)), ..opened })
}

/// Ends the session of a cookie. Does nothing if it has ended.
pub(crate) async fn end(
    conn: &mut AsyncPgConnection,
    state: &State,
    realm: Realm,
    token: &SessionToken,
) -> Result<(), StoreError> {
    let of_tokens = state.operator_tokens.accepted().map(|accepted| token.digest_under(accepted));
    sessions::end_by_digest(conn, realm, of_tokens.chain([token.digest()]), state.unit.clock.now()).await
}

/// Replaces the session by one of another membership, with a new token. Nobody authenticates: the start of the
/// session, its last authentication and its origin stay. `None` if it has ended meanwhile.
pub(crate) async fn replace_session(
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
    let is_required = state.factor_policy.requires_user(membership.role);
    let opened = Session {
        id: SessionId::generate(&state.unit.clock, &state.unit.entropy),
        user: membership.user,
        role: membership.role,
        business: membership.business,
        business_name: membership.business_name,
        expires_at: state.user_sessions.end(session.created_at, now),
        must_enrol: must_enrol(conn, session.account.into(), is_required).await?,
        ..session.clone()
    };
    let token = SessionToken::generate(&state.unit.entropy);
    let address = address.map(CallerAddress::new);
    let origin = Origin { address: address.as_ref(), user_agent: user_agent.as_deref(), new_browser: None };
    let new = NewSession {
        id: opened.id,
        digest: token.digest(),
        holder: opened.account.into(),
        user: Some((opened.business, opened.user)),
        created_at: opened.created_at,
        authenticated_at: opened.authenticated_at,
        expires_at: opened.expires_at,
        single_sign_on: opened.single_sign_on,
        origin,
    };
    user_sessions::insert(conn, &new, now).await?;
    email_confirmations::move_changes(conn, session.account, (session.id, opened.id)).await?;
    let author = Author::of(&opened, author.request).at(author.address.clone());
    let event = AuditEvent::new(Action::SessionOpened)
        .on(Target::new(TargetKind::Session, opened.id))
        .with("switched", true);
    write_audit(conn, state, opened.business, &author, &event).await?;
    Ok(Some(ReplacedSession { session: opened, token }))
}

/// Whether a second factor is required that the account does not have yet. That of a provider counts.
pub(crate) async fn must_enrol(
    conn: &mut AsyncPgConnection,
    account: Account,
    is_required: bool,
) -> Result<bool, StoreError> {
    Ok(is_required && !second_factors::is_enrolled(conn, account).await?)
}
