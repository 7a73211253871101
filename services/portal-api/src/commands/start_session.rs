//! Opening a session within the transaction of a sign-up or a log-in.

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, SessionId, UserId};
use postgres::StoreError;

use crate::app::App;
use crate::domain::{Session, SessionToken, expiry};
use crate::store::sessions;

/// A session that was just opened, with the secret that its cookie carries.
pub(crate) struct Opened {
    pub(crate) session: Session,
    pub(crate) token: SessionToken,
}

/// Whose session it is.
pub(super) struct Holder {
    pub(super) user: UserId,
    pub(super) email: String,
    pub(super) role: String,
    pub(super) business: BusinessId,
    pub(super) business_name: String,
}

/// A new session under a new secret. The one that the browser held before ends, so that a secret which somebody planted
/// in it opens nothing.
pub(super) async fn start_session(
    conn: &mut AsyncPgConnection,
    app: &App,
    holder: Holder,
    replaces: Option<&SessionToken>,
) -> Result<Opened, StoreError> {
    let now = app.clock.now();
    if let Some(token) = replaces {
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
    sessions::insert(conn, &session, &token).await?;
    Ok(Opened { session, token })
}
