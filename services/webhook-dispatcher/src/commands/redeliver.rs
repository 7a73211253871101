//! The same event is sent to the same endpoint again, byte for byte, as often as its owner wants.

use domain::{BusinessId, WebhookDeliveryId};
use internal_api::webhooks::DeliveryState;
use postgres::StoreError;

use crate::app::App;
use crate::domain::Delivery;
use crate::store;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RedeliverError {
    #[error("the business has no such delivery")]
    NotFound,
    #[error("the endpoint of the delivery was deleted")]
    EndpointDeleted,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for RedeliverError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// A delivery that still waits for its next attempt is brought forward; one that is under way, or waits for its turn, is
/// going to be sent as it is.
///
/// # Errors
/// When there is no such delivery, or its endpoint is gone.
pub(crate) async fn redeliver(
    app: &App,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<Delivery, RedeliverError> {
    let now = app.clock.now();
    let delivery = app
        .database
        .transaction(async |conn| {
            let stored =
                store::find_for_redelivery(conn, business, id).await?.ok_or(RedeliverError::NotFound)?;
            if store::find_endpoint(conn, business, stored.endpoint).await?.is_none() {
                return Err(RedeliverError::EndpointDeleted);
            }
            match stored.state {
                DeliveryState::Pending => store::bring_forward(conn, business, id, now).await?,
                _ => store::send_again(conn, business, id, now).await?,
            };
            store::find_delivery(conn, business, id).await?.ok_or(RedeliverError::NotFound)
        })
        .await?;
    tracing::info!(business_id = %business, delivery_id = %id, "a delivery is to be sent again");
    app.bell.notify_one();
    Ok(delivery)
}
