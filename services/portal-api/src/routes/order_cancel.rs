//! `POST /v1/portal/orders/{id}/cancel`: calling an order off. order-api owns it.

use actix_web::web::{Data, Path, Payload, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::orders::OrderView;
use web::{ApiError, read_optional_json};

use super::author::{ByUser, acted};
use super::openapi::bodies;
use super::orders::order_id;
use crate::app::App;
use crate::domain::{Act, Action, Session, Target, TargetKind};

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
        move |_: &OrderView| Act::once(Action::OrderCancelled, Target::new(TargetKind::Order, order_id));
    let cancelled = acted(&app, business, author.0, call, act).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %order_id, "an order was cancelled from the portal"
    );
    Ok(HttpResponse::Ok().json(cancelled))
}
