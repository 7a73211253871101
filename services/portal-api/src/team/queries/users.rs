//! The users of a business.

use std::collections::HashMap;

use domain::{BusinessId, UserId};
use postgres::StoreError;

use crate::domain::User;
use crate::state::State;
use crate::store::users;

/// Oldest first. See [`users::list`].
pub(crate) async fn list(
    state: &State,
    business: BusinessId,
    limit: usize,
    after: Option<UserId>,
) -> Result<Option<Vec<User>>, StoreError> {
    state.unit.database.read(async |conn| users::list(conn, business, limit, after).await).await
}

/// See [`users::names_by_id`].
pub(crate) async fn names_by_id(
    state: &State,
    business: BusinessId,
    ids: &[String],
) -> Result<HashMap<String, String>, StoreError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    state.unit.database.read(async |conn| users::names_by_id(conn, business, ids).await).await
}

/// See [`users::emails_by_id`].
pub(crate) async fn emails_by_id(
    state: &State,
    business: BusinessId,
    ids: &[UserId],
) -> Result<HashMap<UserId, String>, StoreError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    state.unit.database.read(async |conn| users::emails_by_id(conn, business, ids).await).await
}
