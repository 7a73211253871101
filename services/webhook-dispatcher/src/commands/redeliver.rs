//! Sends an event to the same endpoint again, byte for byte.

use domain::{BusinessId, WebhookDeliveryId};
use postgres::StoreError;

use crate::domain::{Delivery, DeliveryState};
use crate::state::State;
use crate::store;

/// The delivery, and the effect of the request.
pub(crate) struct Redelivered {
    pub delivery: Delivery,
    pub effect: RedeliveryEffect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedeliveryEffect {
    /// It was completed and is pending again.
    Queued,
    /// Its next attempt is made now.
    BroughtForward,
    /// An attempt is in flight, or its outcome is not stored yet. Another follows.
    InFlight,
    /// An earlier event of its order is sent first.
    Waiting,
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

/// Also accepts pending deliveries: the caller wants the event to arrive, and the effect tells how.
///
/// # Errors
/// When there is no such delivery, or its endpoint was deleted.
pub(crate) async fn redeliver(
    state: &State,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<Redelivered, RedeliverError> {
    let redelivered = state
        .unit
        .database
        .transaction(async |conn| {
            let now = store::now(conn).await?;
            let (locked, queue) = store::lock_queue_of_parked_delivery(conn, business, id).await?;
            let stored =
                store::find_for_redelivery(conn, business, id).await?.ok_or(RedeliverError::NotFound)?;
            if store::find_endpoint(conn, business, stored.endpoint).await?.is_none() {
                return Err(RedeliverError::EndpointDeleted);
            }
            let effect = match stored.state {
                DeliveryState::Pending => {
                    store::request_attempt(conn, business, id, now).await?;
                    if stored.is_waiting {
                        RedeliveryEffect::Waiting
                    } else if stored.is_in_flight {
                        RedeliveryEffect::InFlight
                    } else {
                        RedeliveryEffect::BroughtForward
                    }
                }
                _ => {
                    store::send_again(conn, business, id, now).await?;
                    // It left its queue: the next delivery there may be due.
                    locked.advance(conn, queue.as_slice(), now).await?;
                    RedeliveryEffect::Queued
                }
            };
            let delivery = store::find_delivery(conn, business, id).await?;
            Ok(Redelivered { delivery: delivery.ok_or(RedeliverError::NotFound)?, effect })
        })
        .await?;
    tracing::info!(business_id = %business, delivery_id = %id, "redelivery requested");
    state.sender.wake_for((redelivered.delivery.endpoint_id, business));
    Ok(redelivered)
}
