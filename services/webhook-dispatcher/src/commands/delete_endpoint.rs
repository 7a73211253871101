//! Deletes an endpoint. The sweeper discards its pending deliveries.

use domain::{BusinessId, EndpointId};
use postgres::StoreError;

use crate::state::State;
use crate::store;

/// Returns false if there is no such endpoint.
///
/// # Errors
/// When the database is unreachable.
pub(crate) async fn delete_endpoint(
    state: &State,
    business: BusinessId,
    endpoint: EndpointId,
) -> Result<bool, StoreError> {
    let now = state.unit.clock.now();
    let deleted = state
        .unit
        .database
        .transaction(async |conn| store::delete_endpoint(conn, business, endpoint, now).await)
        .await?;
    if deleted {
        tracing::info!(business_id = %business, endpoint_id = %endpoint, "endpoint deleted");
    }
    Ok(deleted)
}
