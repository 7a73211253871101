//! Recoveries of an endpoint.

use domain::{BusinessId, EndpointId, RecoveryId};
use postgres::StoreError;

use super::{PageError, one_more_than};
use crate::domain::Recovery;
use crate::state::State;
use crate::store;

/// One more than `limit`.
///
/// # Errors
/// When the endpoint or the first entry of the page does not exist.
pub(crate) async fn recoveries(
    state: &State,
    business: BusinessId,
    endpoint: EndpointId,
    after: Option<RecoveryId>,
    limit: usize,
) -> Result<Vec<Recovery>, PageError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            if store::find_endpoint(conn, business, endpoint).await?.is_none() {
                return Err(PageError::NoEndpoint);
            }
            if let Some(after) = after
                && store::find_recovery(conn, business, endpoint, after).await?.is_none()
            {
                return Err(PageError::UnknownStart);
            }
            Ok(store::list_recoveries(conn, business, endpoint, after, one_more_than(limit)).await?)
        })
        .await
}

pub(crate) async fn recovery(
    state: &State,
    business: BusinessId,
    endpoint: EndpointId,
    id: RecoveryId,
) -> Result<Option<Recovery>, StoreError> {
    state.unit.database.read(async |conn| store::find_recovery(conn, business, endpoint, id).await).await
}
