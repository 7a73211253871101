//! Businesses.

use domain::BusinessId;
use postgres::StoreError;

use crate::business::domain::{Business, BusinessFilter, ListedBusiness, Standing};
use crate::state::State;
use crate::store::{businesses, users};

pub(crate) async fn find(state: &State, business: BusinessId) -> Result<Option<Business>, StoreError> {
    state.unit.database.read(async |conn| businesses::find(conn, business).await).await
}

pub(crate) async fn standing(state: &State, business: BusinessId) -> Result<Option<Standing>, StoreError> {
    state.unit.database.read(async |conn| businesses::standing(conn, business).await).await
}

/// The operator's list. See [`businesses::list`].
pub(crate) async fn list(
    state: &State,
    limit: usize,
    after: Option<BusinessId>,
    filter: &BusinessFilter,
) -> Result<Option<Vec<ListedBusiness>>, StoreError> {
    state.unit.database.read(async |conn| businesses::list(conn, limit, after, filter).await).await
}

/// A business as in the operator's list, and its number of users.
pub(crate) async fn with_users(
    state: &State,
    business: BusinessId,
) -> Result<Option<(ListedBusiness, i64)>, StoreError> {
    let only = BusinessFilter { only: Some(business), ..BusinessFilter::default() };
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let found = businesses::list(conn, 1, None, &only).await?.and_then(|mut found| found.pop());
            let Some(listed) = found else { return Ok(None) };
            Ok(Some((listed, users::count(conn, business).await?)))
        })
        .await
}

/// The names of those businesses that exist.
pub(crate) async fn names(
    state: &State,
    ids: &[BusinessId],
) -> Result<Vec<(BusinessId, String)>, StoreError> {
    state.unit.database.read(async |conn| businesses::names(conn, ids).await).await
}
