//! An endpoint goes. What still waits for it is called off by the sweeper, in portions.

use domain::{BusinessId, EndpointId};
use postgres::StoreError;

use crate::app::App;
use crate::store;

/// False when there is no such endpoint.
///
/// # Errors
/// When the database is away.
pub(crate) async fn delete_endpoint(
    app: &App,
    business: BusinessId,
    endpoint: EndpointId,
) -> Result<bool, StoreError> {
    let now = app.clock.now();
    let deleted = app
        .database
        .transaction(async |conn| store::delete_endpoint(conn, business, endpoint, now).await)
        .await?;
    if deleted {
        tracing::info!(business_id = %business, endpoint_id = %endpoint, "an endpoint was deleted");
    }
    Ok(deleted)
}
