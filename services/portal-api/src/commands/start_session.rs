//! Opening a session within the transaction of a sign-up, a log-in or whatever else ends with somebody logged in.

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, SessionId, UserId};
use postgres::StoreError;

use crate::app::App;
use crate::domain::{KnownBrowser, Role, Session, SessionToken, expiry};
use crate::store::sessions;

/// A user's oldest sessions end when there are more.
const OPEN_MAX: i64 = 100;

/// A session that was just opened, with the secret that its cookie carries.
pub(crate) struct Opened {
    pub(crate) session: Session,
    pub(crate) token: SessionToken,
    /// By which the browser is known from now on.
    pub(crate) browser: KnownBrowser,
}

/// What the browser brings that is to hold the session.
#[derive(Clone, Default)]
pub(crate) struct Browser {
    /// The session that it holds already.
    pub(crate) replaces: Option<SessionToken>,
    /// As it calls itself, cut short.
    pub(crate) user_agent: Option<String>,
}

/// Whose session it is.
pub(super) struct Holder {
    pub(super) user: UserId,
    pub(super) email: String,
    pub(super) role: Role,
    pub(super) business: BusinessId,
    pub(super) business_name: String,
    pub(super) password_hash: String,
}

/// A new session under a new secret. The one that the browser held before ends, so that a secret which somebody planted
/// in it opens nothing.
pub(super) async fn start_session(
    conn: &mut AsyncPgConnection,
    app: &App,
    holder: Holder,
    browser: &Browser,
) -> Result<Opened, StoreError> {
    let now = app.clock.now();
    let known = KnownBrowser::issue(&holder.password_hash, holder.user, now);
    if let Some(token) = &browser.replaces {
        sessions::revoke(conn, token, now).await?;
    }
    let session = Session {
        id: SessionId::generate(&app.clock, &app.entropy),
        user: holder.user,
        email: holder.email,
        role: holder.role,
        business: holder.business,
        business_name: holder.business_name,
        created_at: now,
        expires_at: expiry(now, now),
    };
    let token = SessionToken::generate(&app.entropy);
    sessions::insert(conn, &session, &token, browser.user_agent.as_deref()).await?;
    sessions::revoke_beyond(conn, &session, OPEN_MAX, now).await?;
    Ok(Opened { session, token, browser: known })
}
