//! Finds the session of a request, and extends it if somebody uses the page.

use chrono::{DateTime, Utc};
use identity::{SessionToken, sessions};
use postgres::StoreError;

use crate::account::commands::open_session::must_enrol;
use crate::domain::Session;
use crate::state::State;
use crate::store::{email_confirmations, memberships, user_sessions};

/// A session in use, and its new end if it was extended.
pub(crate) struct UsedSession {
    pub(crate) session: Session,
    pub(crate) extended_until: Option<DateTime<Utc>>,
}

/// `None` if there is no such session or it has ended. Calls that a page sends by itself do not count as use.
pub(crate) async fn use_session(
    state: &State,
    token: &SessionToken,
    is_attended: bool,
) -> Result<Option<UsedSession>, StoreError> {
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let open = state.user_sessions.at(now);
            let Some(mut session) = user_sessions::find(conn, token, open).await? else { return Ok(None) };
            // Its user is no longer an owner, or single sign-on has become required.
            if session.password_refused && state.business_sso.is_available() {
                // Before the end of the session: a failure is repeated with its next call.
                email_confirmations::remove_changes_in(conn, &[session.id.to_string()]).await?;
                user_sessions::end(conn, &session, now).await?;
                return Ok(None);
            }
            // The second factor of the provider counts.
            let is_required = !session.single_sign_on && state.factor_policy.requires_user(session.role);
            session.must_enrol = must_enrol(conn, session.account.into(), is_required).await?;
            let extended = state
                .user_sessions
                .extend((session.created_at, session.expires_at), session.single_sign_on, now)
                .filter(|_| is_attended);
            let Some(until) = extended else {
                return Ok(Some(UsedSession { session, extended_until: None }));
            };
            sessions::mark_used(conn, session.id, Some(until), now).await?;
            memberships::set_seen(conn, (session.business, session.user), now).await?;
            let session = Session { expires_at: until, ..session };
            Ok(Some(UsedSession { session, extended_until: Some(until) }))
        })
        .await
}

/// Whether the token is still that of an open session.
pub(crate) async fn is_present(state: &State, token: &SessionToken) -> Result<bool, StoreError> {
    let open = state.user_sessions.at(state.unit.clock.now());
    let database = &state.unit.database;
    database.read(async |conn| Ok(user_sessions::find(conn, token, open).await?.is_some())).await
}
