//! `/v1/portal/orders/{id}/request` and `…/cancel`: where an order comes from, and calling it off. order-api owns both.

use actix_web::web::{Data, Path, Payload, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, RequestId};
use internal_api::PageQuery;
use internal_api::keys::ApiKeyView;
use internal_api::orders::OrderView;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, PAGE_LIMIT_MAX, read_optional_json};

use super::author::{ByUser, acted};
use super::openapi::bodies;
use super::orders::order_id;
use crate::app::App;
use crate::domain::{Act, Action, Session, Target, TargetKind};

/// A business has at most 20 working keys of each mode; the pages beyond hold keys revoked long ago.
const KEY_PAGES_MAX: usize = 5;

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
    }))
}

async fn find_key(app: &App, business: BusinessId, id: ApiKeyId) -> Result<Option<ApiKeyView>, ApiError> {
    let mut query = PageQuery { limit: PAGE_LIMIT_MAX, starting_after: None };
    for _ in 0..KEY_PAGES_MAX {
        let page = app.peers.keys.list(business, &query).await?;
        query.starting_after = page.data.last().map(|key| key.id.to_string());
        if let Some(key) = page.data.into_iter().find(|key| key.id == id) {
            return Ok(Some(key));
        }
        if !page.has_more {
            break;
        }
    }
    Ok(None)
}

#[utoipa::path(
    post,
    path = "/v1/portal/orders/{id}/cancel",
    operation_id = "cancelOrder",
    tag = "Orders",
    summary = "Call an order off, before its pickup",
    description = "Repeated: the same answer. The fee of a live order comes back. After the pickup: 409 `order_not_cancellable`.",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    request_body = Option<bodies::CancelOrder>,
    responses((status = 200, description = "The order, cancelled.", body = internal_api::orders::OrderView)),
)]
pub(super) async fn cancel(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    order: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let order_id = order_id(&order)?;
    let body = read_optional_json(&request, payload).await?;
    let (business, orders) = (session.business, app.peers.orders.clone());
    let call = async move { Ok(orders.cancel(business, &order_id.to_string(), &body).await?) };
    let act =
        move |_: &OrderView| Act::new(Action::OrderCancelled).on(Target::new(TargetKind::Order, order_id));
    let cancelled = acted(&app, business, author.0, call, act).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %order_id, "an order was cancelled from the portal"
    );
    Ok(HttpResponse::Ok().json(cancelled))
}
