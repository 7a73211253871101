//! Reads of keys.

use diesel_async::AsyncPgConnection;
use domain::{ApiKeyId, BusinessId, Mode, UserId};
use postgres::StoreError;

use crate::domain::Key;
use crate::state::State;
use crate::store;

/// A key, and whether another key replaces it.
pub(crate) struct ListedKey {
    pub key: Key,
    pub is_rotated: bool,
}

/// Up to `limit + 1` keys, of one creator or of all, newest first. `None` when `after` names no key of this business.
///
/// # Errors
/// When the database is unavailable.
pub(crate) async fn list(
    state: &State,
    business: BusinessId,
    created_by: Option<UserId>,
    after: Option<ApiKeyId>,
    limit: usize,
) -> Result<Option<Vec<ListedKey>>, StoreError> {
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
            let keys = store::list(conn, business, created_by, after.as_ref(), wanted).await?;
            listed(conn, business, keys).await.map(Some)
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
) -> Result<Option<ListedKey>, StoreError> {
    state
        .unit
        .database
        .read(async |conn| {
            let found = store::find(conn, business, id).await?;
            Ok(listed(conn, business, found.into_iter().collect()).await?.pop())
        })
        .await
}

async fn listed(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    keys: Vec<Key>,
) -> Result<Vec<ListedKey>, StoreError> {
    let ids: Vec<ApiKeyId> = keys.iter().map(|key| key.id).collect();
    let rotated = store::rotated_among(conn, business, &ids).await?;
    let listed = keys.into_iter().map(|key| ListedKey { is_rotated: rotated.contains(&key.id), key });
    Ok(listed.collect())
}

/// The modes in which the business has a working key.
///
/// # Errors
/// When the database is unavailable.
pub(crate) async fn working_modes(state: &State, business: BusinessId) -> Result<Vec<Mode>, StoreError> {
    let now = state.unit.clock.now();
    state.unit.database.read(async |conn| store::working_modes(conn, business, now).await).await
}
