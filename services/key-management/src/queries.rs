//! What can be asked of a business's keys.

use domain::{ApiKeyId, BusinessId, Mode};
use postgres::StoreError;

use crate::app::App;
use crate::domain::Key;
use crate::store;

/// One key more than `limit`, when there are as many, newest first. `None` when `after` names no key of this business.
///
/// # Errors
/// When the database is away.
pub(crate) async fn list(
    app: &App,
    business: BusinessId,
    after: Option<ApiKeyId>,
    limit: usize,
) -> Result<Option<Vec<Key>>, StoreError> {
    let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
    app.database
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

/// One business more than `limit`, when there are as many, of those behind this id that have a key which was not revoked.
///
/// # Errors
/// When the database is away.
pub(crate) async fn businesses(app: &App, behind: &str, limit: usize) -> Result<Vec<BusinessId>, StoreError> {
    let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
    app.database.read(async |conn| store::businesses(conn, behind, wanted).await).await
}

/// Whether it works or not.
///
/// # Errors
/// When the database is away.
pub(crate) async fn find(app: &App, business: BusinessId, id: ApiKeyId) -> Result<Option<Key>, StoreError> {
    app.database.read(async |conn| store::find(conn, business, id).await).await
}

/// The modes of which the business has a working key.
///
/// # Errors
/// When the database is away.
pub(crate) async fn working_modes(app: &App, business: BusinessId) -> Result<Vec<Mode>, StoreError> {
    let now = app.clock.now();
    app.database.read(async |conn| store::working_modes(conn, business, now).await).await
}
