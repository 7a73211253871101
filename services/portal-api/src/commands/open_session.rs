//! Opens a session within the transaction of a sign-up, a log-in, an accepted invitation or a changed password.

use diesel_async::AsyncPgConnection;
use domain::SessionId;
use postgres::StoreError;

use crate::domain::{Account, Credentials, KnownBrowser, Role, Session, SessionToken, expiry};
use crate::state::State;
use crate::store::{second_factors, sessions};

/// Open sessions of one user. Opening more ends the oldest ones.
const OPEN_MAX: i64 = 100;

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
}

/// Opens a session with a new token. Ends the browser's previous session, so that a token that an attacker planted in the
/// browser becomes useless.
pub(super) async fn open_session(
    conn: &mut AsyncPgConnection,
    state: &State,
    user: Credentials,
    browser: &Browser,
) -> Result<OpenedSession, StoreError> {
    let now = state.unit.clock.now();
    let known = KnownBrowser::issue(&user.password_hash, user.user, now);
    if let Some(token) = &browser.replaces {
        sessions::revoke(conn, token, now).await?;
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
        expires_at: expiry(now, now),
        authenticated_at: now,
        must_enrol: must_enrol(conn, state, account, user.role).await?,
    };
    let token = SessionToken::generate(&state.unit.entropy);
    sessions::insert(conn, &session, &token, browser.user_agent.as_deref()).await?;
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
