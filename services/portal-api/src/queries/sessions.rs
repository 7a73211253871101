//! Sessions of users and of the console.

use domain::SessionId;
use postgres::StoreError;

use crate::domain::{OpenSession, Realm, SessionHolder};
use crate::live_updates::SessionKey;
use crate::state::State;
use crate::store::{sessions, user_sessions};

/// The open sessions of the holder, newest first. See [`sessions::list`].
pub(crate) async fn list(
    state: &State,
    holder: SessionHolder,
    limit: usize,
    after: Option<SessionId>,
) -> Result<Option<Vec<OpenSession>>, StoreError> {
    let lifetimes = match holder.realm() {
        Realm::User => state.user_sessions,
        Realm::Staff => state.console_sessions,
    };
    let open = lifetimes.at(state.unit.clock.now());
    state.unit.database.read(async |conn| sessions::list(conn, holder, limit, after, open).await).await
}

/// The sessions among these that have not ended.
pub(crate) async fn still_open(state: &State, known: &[SessionKey]) -> Result<Vec<SessionId>, StoreError> {
    let open = state.user_sessions.at(state.unit.clock.now());
    state.unit.database.read(async |conn| user_sessions::still_open(conn, known, open).await).await
}
