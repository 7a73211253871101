//! Reads of keys.

use domain::{ApiKeyId, BusinessId, Mode};
use postgres::StoreError;

use crate::domain::Key;
use crate::state::State;
use crate::store;

/// Up to `limit + 1` keys, newest first. `None` when `after` names no key of this business.
///
/// # Errors
/// When the database is unavailable.
pub(crate) async fn list(
    state: &State,
    business: BusinessId,
    after: Option<ApiKeyId>,
    limit: usize,
) -> Result<Option<Vec<Key>>, StoreError> {
    let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
    state
        .unit
        .database
        .read(async |conn| {
            let after = match after {
                None => None,
                Some(id) => match store::find(conn, business, id).await? {
                    Some(key) => Some(key),
                    None => return Ok(None),
                },
            };
            store::list(conn, business, after.as_ref(), wanted).await.map(Some)
        })
        .await
}

/// Up to `limit + 1` businesses after the id `after` that have an unrevoked key.
///
/// # Errors
/// When the database is unavailable.
pub(crate) async fn businesses(
    state: &State,
    after: &str,
    limit: usize,
) -> Result<Vec<BusinessId>, StoreError> {
    let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
    state.unit.database.read(async |conn| store::businesses(conn, after, wanted).await).await
}

/// A key, working or not.
///
/// # Errors
/// When the database is unavailable.
pub(crate) async fn find(
    state: &State,
    business: BusinessId,
    id: ApiKeyId,
) -> Result<Option<Key>, StoreError> {
    state.unit.database.read(async |conn| store::find(conn, business, id).await).await
}

/// The modes in which the business has a working key.
///
/// # Errors
/// When the database is unavailable.
pub(crate) async fn working_modes(state: &State, business: BusinessId) -> Result<Vec<Mode>, StoreError> {
    let now = state.unit.clock.now();
    state.unit.database.read(async |conn| store::working_modes(conn, business, now).await).await
}
