//! What can be read.

use domain::{BusinessId, EndpointId, OrderId, RecoveryId, WebhookDeliveryId};
use internal_api::webhooks::WebhookSummary;
use postgres::StoreError;

use crate::app::App;
use crate::domain::{Attempt, Delivery, ENDPOINTS_MAX, Endpoint, OrderDelivery, Recovery, summary};
use crate::store::{self, DeliveryFilter, LogPage, Position};

/// More attempts than a delivery's log shows are made only by sending it again by hand, over and over.
const ATTEMPTS_SHOWN: i64 = 100;

/// One more than `limit`, which tells whether there are more; none when `after` is not in the list.
pub(crate) async fn endpoints(
    app: &App,
    business: BusinessId,
    after: Option<EndpointId>,
    limit: usize,
) -> Result<Option<Vec<Endpoint>>, StoreError> {
    app.database
        .read(async |conn| {
            if let Some(after) = after
                && store::find_endpoint(conn, business, after).await?.is_none()
            {
                return Ok(None);
            }
            store::list_endpoints(conn, business, after, one_more_than(limit)).await.map(Some)
        })
        .await
}

/// One more than `limit`, which tells whether there are more, of the businesses behind this id that have an endpoint.
pub(crate) async fn businesses(app: &App, behind: &str, limit: usize) -> Result<Vec<BusinessId>, StoreError> {
    app.database
        .read(async |conn| store::businesses_with_endpoints(conn, behind, one_more_than(limit)).await)
        .await
}

pub(crate) async fn endpoint(
    app: &App,
    business: BusinessId,
    endpoint: EndpointId,
) -> Result<Option<Endpoint>, StoreError> {
    app.database.read(async |conn| store::find_endpoint(conn, business, endpoint).await).await
}

pub(crate) async fn webhook_summary(app: &App, business: BusinessId) -> Result<WebhookSummary, StoreError> {
    let endpoints = app
        .database
        .read(async |conn| store::list_endpoints(conn, business, None, ENDPOINTS_MAX).await)
        .await?;
    Ok(summary(&endpoints.into_iter().map(|endpoint| endpoint.facts).collect::<Vec<_>>()))
}

/// Why a page of a log cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    #[error("the business has no such endpoint")]
    NoEndpoint,
    #[error("the page begins after an entry that is not in the list")]
    UnknownStart,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A page of an endpoint's log.
pub(crate) async fn deliveries(
    app: &App,
    business: BusinessId,
    filter: &DeliveryFilter,
) -> Result<LogPage, LogError> {
    app.database
        .read(async |conn| {
            if store::find_endpoint(conn, business, filter.endpoint).await?.is_none() {
                return Err(LogError::NoEndpoint);
            }
            if let Some(after) = filter.after {
                let start = store::find_delivery(conn, business, after).await?;
                if start.is_none_or(|start| start.endpoint_id != filter.endpoint) {
                    return Err(LogError::UnknownStart);
                }
            }
            Ok(store::list_deliveries(conn, business, filter).await?)
        })
        .await
}

/// An endpoint's recoveries; one more than `limit`, which tells whether there are more.
pub(crate) async fn recoveries(
    app: &App,
    business: BusinessId,
    endpoint: EndpointId,
    after: Option<RecoveryId>,
    limit: usize,
) -> Result<Vec<Recovery>, LogError> {
    app.database
        .read(async |conn| {
            if store::find_endpoint(conn, business, endpoint).await?.is_none() {
                return Err(LogError::NoEndpoint);
            }
            if let Some(after) = after
                && store::find_recovery(conn, business, endpoint, after).await?.is_none()
            {
                return Err(LogError::UnknownStart);
            }
            Ok(store::list_recoveries(conn, business, endpoint, after, one_more_than(limit)).await?)
        })
        .await
}

pub(crate) async fn recovery(
    app: &App,
    business: BusinessId,
    endpoint: EndpointId,
    id: RecoveryId,
) -> Result<Option<Recovery>, StoreError> {
    app.database.read(async |conn| store::find_recovery(conn, business, endpoint, id).await).await
}

/// A delivery, the bytes that are sent, and its attempts with their numbers.
pub(crate) type DeliveryWithLog = (Delivery, Vec<u8>, Vec<(i32, Attempt)>);

pub(crate) async fn delivery(
    app: &App,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<Option<DeliveryWithLog>, StoreError> {
    app.database
        .read(async |conn| {
            let Some(delivery) = store::find_delivery(conn, business, id).await? else { return Ok(None) };
            let Some(body) = store::body_of(conn, business, delivery.event_id).await? else {
                return Ok(None);
            };
            let attempts =
                store::attempts_of(conn, business, (id, delivery.created_at), ATTEMPTS_SHOWN).await?;
            Ok(Some((delivery, body, attempts)))
        })
        .await
}

/// What became of an order's events, beginning after a place; one more than `limit`. An order that is not known here
/// has none.
pub(crate) async fn deliveries_of_order(
    app: &App,
    business: BusinessId,
    order: OrderId,
    after: Option<Position>,
    limit: usize,
) -> Result<Vec<OrderDelivery>, StoreError> {
    let limit = one_more_than(limit);
    app.database
        .read(async |conn| store::deliveries_of_order(conn, business, order, after, limit).await)
        .await
}

pub(crate) async fn delivery_of_order(
    app: &App,
    business: BusinessId,
    order: OrderId,
    id: WebhookDeliveryId,
) -> Result<Option<OrderDelivery>, StoreError> {
    app.database.read(async |conn| store::delivery_of_order(conn, business, order, id).await).await
}

fn one_more_than(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX - 1) + 1
}
