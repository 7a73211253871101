//! Sessions of users and of the console.

use domain::SessionId;
use identity::sessions::{self, OpenSession, SessionHolder};
use identity::{Account, Realm};
use postgres::StoreError;

use crate::live_updates::SessionKey;
use crate::state::State;
use crate::store::{memberships, user_sessions};

/// The open sessions of the holder, newest first, with the names of their businesses. See [`sessions::list`].
pub(crate) async fn list(
    state: &State,
    holder: SessionHolder,
    limit: usize,
    after: Option<SessionId>,
) -> Result<Option<Vec<(OpenSession, Option<String>)>>, StoreError> {
    let lifetimes = match holder.realm() {
        Realm::User => state.user_sessions,
        Realm::Staff => state.console_sessions,
    };
    let open = lifetimes.at(state.unit.clock.now());
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let Some(listed) = sessions::list(conn, holder, limit, after, open).await? else {
                return Ok(None);
            };
            let businesses = match holder {
                SessionHolder::Account(Account::User(account)) => memberships::list(conn, account).await?,
                _ => Vec::new(),
            };
            let name = |session: &OpenSession| {
                let of = businesses.iter().find(|one| Some(one.business) == session.business);
                of.map(|one| one.business_name.clone())
            };
            let named = listed.into_iter().map(|session| {
                let name = name(&session);
                (session, name)
            });
            Ok(Some(named.collect()))
        })
        .await
}

/// The sessions among these that have not ended.
pub(crate) async fn still_open(state: &State, known: &[SessionKey]) -> Result<Vec<SessionId>, StoreError> {
    let open = state.user_sessions.at(state.unit.clock.now());
    state.unit.database.read(async |conn| user_sessions::still_open(conn, known, open).await).await
}
