//! The users of a business.

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
