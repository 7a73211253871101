//! `GET /v1/portal/orders/{id}/request`: the request that created an order. Forwarded to order-api.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, ReqData};
use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, RequestId};
use internal_api::keys::ApiKeyView;
use serde::Serialize;
use serde_json::Value;
use web::ApiError;

use crate::domain::Session;
use crate::http::openapi::bodies;
use crate::relay::routes::orders::order_id;
use crate::state::State;

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct RequestView {
    /// Null for old orders that were placed before this was recorded, like `keyPrefix` and `keyLastFour`.
    request_id: Option<RequestId>,
    received_at: DateTime<Utc>,
    idempotency_key: String,
    /// The body as it was interpreted: with the pickup from the profile, and without unknown fields.
    #[schema(value_type = bodies::AcceptedBody)]
    body: Value,
    key_prefix: Option<String>,
    key_last_four: Option<String>,
    /// When the personal data was erased from the body.
    personal_data_erased_at: Option<DateTime<Utc>>,
    /// Whether personal data is masked for the role. Left out otherwise. The guard adds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    personal_data_masked: Option<bool>,
}

#[utoipa::path(
    get,
    path = "/v1/portal/orders/{id}/request",
    operation_id = "readOrderRequest",
    tag = "Orders",
    summary = "Read the request that created an order",
    description = "Contains the known fields of the body. Headers and the exact bytes are not stored. Without the permission `read_customers`, phones and addresses are masked, and `personalDataMasked` is true.",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    responses((status = 200, description = "The request.", body = RequestView)),
)]
pub(crate) async fn request(
    state: Data<State>,
    session: ReqData<Session>,
    order: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let order = order_id(&order)?.to_string();
    let accepted = state.peers.orders.request(session.business, &order).await?;
    let key = find_key(&state, session.business, accepted.key_id).await?;
    let (key_prefix, key_last_four) = key.map(|key| (key.prefix, key.last_four)).unzip();
    Ok(HttpResponse::Ok().json(RequestView {
        request_id: Some(accepted.request_id),
        received_at: accepted.received_at,
        idempotency_key: accepted.idempotency_key,
        body: accepted.body,
        key_prefix,
        key_last_four,
        personal_data_erased_at: accepted.personal_data_erased_at,
        personal_data_masked: None,
    }))
}

/// `None` if key-management no longer has the key.
async fn find_key(state: &State, business: BusinessId, id: ApiKeyId) -> Result<Option<ApiKeyView>, ApiError> {
    match state.peers.keys.read(business, &id.to_string()).await {
        Ok(key) => Ok(Some(key)),
        Err(error) if error.refusal_code() == Some("api_key_not_found") => Ok(None),
        Err(error) => Err(error.into()),
    }
}
