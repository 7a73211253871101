//! The same event is sent to the same endpoint again, byte for byte, as often as its owner wants.

use domain::{BusinessId, WebhookDeliveryId};
use internal_api::webhooks::{DeliveryState, Redelivery};
use postgres::StoreError;

use crate::app::App;
use crate::domain::Delivery;
use crate::store;

/// A delivery that is going to be sent, and what asking for it did.
pub(crate) struct Redelivered {
    pub delivery: Delivery,
    pub how: Redelivery,
}

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

/// A delivery that is going to be sent anyway is not refused: whoever asks wants it to arrive, and it will. He is told
/// what he gets. One that waits for its next attempt is brought forward.
///
/// # Errors
/// When there is no such delivery, or its endpoint is gone.
pub(crate) async fn redeliver(
    app: &App,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<Redelivered, RedeliverError> {
    let now = app.clock.now();
    let redelivered = app
        .database
        .transaction(async |conn| {
            let held_up = store::lock_queue_of_parked(conn, business, id).await?;
            let stored =
                store::find_for_redelivery(conn, business, id).await?.ok_or(RedeliverError::NotFound)?;
            if store::find_endpoint(conn, business, stored.endpoint).await?.is_none() {
                return Err(RedeliverError::EndpointDeleted);
            }
            let how = match stored.state {
                DeliveryState::Pending if store::bring_forward(conn, business, id, now).await? => {
                    Redelivery::BroughtForward
                }
                DeliveryState::Pending if stored.waits_its_turn => Redelivery::WaitsItsTurn,
                DeliveryState::Pending => Redelivery::UnderWay,
                _ => {
                    store::send_again(conn, business, id, now).await?;
                    // It takes no turn any more.
                    store::advance(conn, held_up.as_slice(), now).await?;
                    Redelivery::Queued
                }
            };
            let delivery = store::find_delivery(conn, business, id).await?;
            Ok(Redelivered { delivery: delivery.ok_or(RedeliverError::NotFound)?, how })
        })
        .await?;
    tracing::info!(business_id = %business, delivery_id = %id, "a delivery is to be sent again");
    app.bell.notify_one();
    Ok(redelivered)
}
