//! Sessions of users.

use domain::SessionId;
use postgres::StoreError;

use crate::domain::{OpenSession, Session};
use crate::live_updates::SessionKey;
use crate::state::State;
use crate::store::sessions;

/// The open sessions of the session's user, newest first. See [`sessions::list`].
pub(crate) async fn list(
    state: &State,
    session: &Session,
    limit: usize,
    after: Option<SessionId>,
) -> Result<Option<Vec<OpenSession>>, StoreError> {
    let (user, now) = ((session.business, session.user), state.unit.clock.now());
    let database = &state.unit.database;
    database.read(async |conn| sessions::list(conn, user, limit, after, now).await).await
}

/// The sessions among these that have not ended.
pub(crate) async fn still_open(state: &State, known: &[SessionKey]) -> Result<Vec<SessionId>, StoreError> {
    let now = state.unit.clock.now();
    state.unit.database.read(async |conn| sessions::still_open(conn, known, now).await).await
}
