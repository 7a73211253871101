//! The businesses of a person.

use postgres::StoreError;

use crate::domain::{Membership, Session};
use crate::state::State;
use crate::store::memberships;

/// The businesses that the session can switch to, and its own one; by name.
pub(crate) async fn of_session(state: &State, session: &Session) -> Result<Vec<Membership>, StoreError> {
    let account = session.account;
    let database = &state.unit.database;
    let found = database.read(async |conn| memberships::list(conn, account).await).await;
    let all: Vec<Membership> = found?;
    let is_shown = |one: &Membership| session.acts_on_account() || one.business == session.business;
    Ok(all.into_iter().filter(is_shown).collect())
}
