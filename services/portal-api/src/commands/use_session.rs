//! Finds the session of a request, and extends it if somebody uses the page.

use chrono::{DateTime, Utc};
use postgres::StoreError;

use super::open_session::must_enrol;
use crate::domain::{Account, Session, SessionToken};
use crate::state::State;
use crate::store::sessions;

/// A session in use, and its new end if it was extended.
pub(crate) struct UsedSession {
    pub(crate) session: Session,
    pub(crate) extended_until: Option<DateTime<Utc>>,
}

/// `None` if there is no such session or it has ended. A page that refreshes itself while nobody uses it is no use.
pub(crate) async fn use_session(
    state: &State,
    token: &SessionToken,
    is_attended: bool,
) -> Result<Option<UsedSession>, StoreError> {
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let Some(mut session) = sessions::find(conn, token, state.user_sessions.at(now)).await? else {
                return Ok(None);
            };
            // Such a session is of the previous release, or its user is no longer an owner.
            if session.password_refused && state.business_sso.is_available() {
                return Ok(None);
            }
            let account = Account::User { business: session.business, user: session.user };
            // The second factor of the provider counts.
            session.must_enrol =
                !session.single_sign_on && must_enrol(conn, state, account, session.role).await?;
            let extended = state.user_sessions.extend(&session, now).filter(|_| is_attended);
            let Some(until) = extended else {
                return Ok(Some(UsedSession { session, extended_until: None }));
            };
            sessions::extend(conn, &session, until, now).await?;
            let session = Session { expires_at: until, ..session };
            Ok(Some(UsedSession { session, extended_until: Some(until) }))
        })
        .await
}
