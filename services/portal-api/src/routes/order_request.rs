//! `GET /v1/portal/orders/{id}/request`: what an order was accepted from. order-api owns it.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, ReqData};
use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, RequestId};
use internal_api::keys::ApiKeyView;
use serde::Serialize;
use serde_json::Value;
use web::ApiError;

use super::openapi::bodies;
use super::orders::order_id;
use crate::app::App;
use crate::domain::Session;

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct RequestView {
    /// Null for an order that was placed before this was kept, as `keyPrefix` and `keyLastFour` are.
    request_id: Option<RequestId>,
    received_at: DateTime<Utc>,
    idempotency_key: String,
    /// As it was understood: with the pickup that the profile filled in, and without fields that are unknown.
    #[schema(value_type = bodies::AcceptedBody)]
    body: Value,
    key_prefix: Option<String>,
    key_last_four: Option<String>,
    /// Since then the body tells nothing of people.
    personal_data_erased_at: Option<DateTime<Utc>>,
}

#[utoipa::path(
    get,
    path = "/v1/portal/orders/{id}/request",
    operation_id = "readOrderRequest",
    tag = "Orders",
    summary = "The request that an order was accepted from",
    description = "As far as it is kept: its body in the fields that are known. Its headers and its exact bytes are not.",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    responses((status = 200, description = "The request.", body = RequestView)),
)]
pub(super) async fn request(
    app: Data<App>,
    session: ReqData<Session>,
    order: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?.to_string();
    let accepted = app.peers.orders.request(session.business, &order).await?;
    let key = match accepted.key_id {
        Some(key) => find_key(&app, session.business, key).await?,
        None => None,
    };
    let (key_prefix, key_last_four) = key.map(|key| (key.prefix, key.last_four)).unzip();
    Ok(HttpResponse::Ok().json(RequestView {
        request_id: accepted.request_id,
        received_at: accepted.received_at,
        idempotency_key: accepted.idempotency_key,
        body: accepted.body,
        key_prefix,
        key_last_four,
        personal_data_erased_at: accepted.personal_data_erased_at,
    }))
}

/// `None` for a key that key-management does not know any more.
async fn find_key(app: &App, business: BusinessId, id: ApiKeyId) -> Result<Option<ApiKeyView>, ApiError> {
    match app.peers.keys.read(business, &id.to_string()).await {
        Ok(key) => Ok(Some(key)),
        Err(error) if error.refusal_code() == Some("api_key_not_found") => Ok(None),
        Err(error) => Err(error.into()),
    }
}
