//! The log of an endpoint's deliveries.

use domain::{BusinessId, WebhookDeliveryId};
use postgres::StoreError;

use super::PageError;
use crate::domain::{Attempt, Delivery, DeliveryFilter, LogPage};
use crate::state::State;
use crate::store;

/// Only manual redeliveries make more attempts than this.
const ATTEMPTS_SHOWN: i64 = 100;
/// Of headers and responses. Two services read and write them on the thread that serves their requests.
const BYTES_SHOWN: i64 = 256 * 1024;

/// # Errors
/// When the endpoint or the first entry of the page does not exist.
pub(crate) async fn deliveries(
    state: &State,
    business: BusinessId,
    filter: &DeliveryFilter,
) -> Result<LogPage, PageError> {
    let _slot = state.page_slot(business).await?;
    let database = &state.unit.database;
    database
        .read(async |conn| {
            if store::find_endpoint(conn, business, filter.endpoint).await?.is_none() {
                return Err(PageError::NoEndpoint);
            }
            if let Some(after) = filter.after {
                let start = store::find_delivery(conn, business, after).await?;
                if start.is_none_or(|start| start.endpoint_id != filter.endpoint) {
                    return Err(PageError::UnknownStart);
                }
            }
            Ok(store::list_deliveries(conn, business, filter).await?)
        })
        .await
}

/// A delivery, the body that is sent, and its numbered attempts.
pub(crate) type DeliveryWithLog = (Delivery, Vec<u8>, Vec<(i32, Attempt)>);

pub(crate) async fn delivery(
    state: &State,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<Option<DeliveryWithLog>, StoreError> {
    let _slot = state.page_slot(business).await?;
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let Some(delivery) = store::find_delivery(conn, business, id).await? else { return Ok(None) };
            let Some(body) = store::body_of(conn, business, delivery.event_id).await? else {
                return Ok(None);
            };
            let key = (id, delivery.created_at);
            let attempts = store::attempts_of(conn, business, key, (ATTEMPTS_SHOWN, BYTES_SHOWN)).await?;
            Ok(Some((delivery, body, attempts)))
        })
        .await
}
