//! Sessions of users and of the console.

use domain::SessionId;
use postgres::StoreError;

use crate::domain::{ConsoleHolder, ConsoleSessionId, OpenSession, Session};
use crate::live_updates::SessionKey;
use crate::state::State;
use crate::store::{console_sessions, session_list, sessions};

/// The open sessions of the session's account, newest first. See [`sessions::list`].
pub(crate) async fn list(
    state: &State,
    session: &Session,
    limit: usize,
    after: Option<SessionId>,
) -> Result<Option<Vec<OpenSession>>, StoreError> {
    let open = state.user_sessions.at(state.unit.clock.now());
    let database = &state.unit.database;
    database.read(async |conn| session_list::list(conn, session.account, limit, after, open).await).await
}

/// The sessions among these that have not ended.
pub(crate) async fn still_open(state: &State, known: &[SessionKey]) -> Result<Vec<SessionId>, StoreError> {
    let open = state.user_sessions.at(state.unit.clock.now());
    state.unit.database.read(async |conn| sessions::still_open(conn, known, open).await).await
}

/// The open console sessions of the holder, newest first. See [`console_sessions::list`].
pub(crate) async fn of_console(
    state: &State,
    holder: ConsoleHolder,
    limit: usize,
    after: Option<ConsoleSessionId>,
) -> Result<Option<Vec<OpenSession<ConsoleSessionId>>>, StoreError> {
    let open = state.console_sessions.at(state.unit.clock.now());
    let database = &state.unit.database;
    database.read(async |conn| console_sessions::list(conn, holder, limit, after, open).await).await
}
