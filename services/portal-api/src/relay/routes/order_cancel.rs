//! `POST /v1/portal/orders/{id}/cancel`: cancels an order. Forwarded to order-api.

use actix_web::web::{Data, Path, Payload, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::orders::OrderView;
use web::{ApiError, read_optional_json};

use crate::audit::domain::{Action, AuditEvent, Target, TargetKind};
use crate::domain::Session;
use crate::http::audited::UserAuthor;
use crate::http::openapi::{bodies, shown};
use crate::relay::routes::after_failure::forward;
use crate::relay::routes::orders::order_id;
use crate::state::State;

#[utoipa::path(
    post,
    path = "/v1/portal/orders/{id}/cancel",
    operation_id = "cancelOrder",
    tag = "Orders",
    summary = "Cancel an order before its pickup",
    description = "Repeating the call has no effect. The fee of a live order is refunded. After the pickup: 409 `order_not_cancellable`.",
    params(("id" = domain::OrderId, Path, description = "The order.")),
    request_body = Option<bodies::CancelOrder>,
    responses((status = 200, description = "The cancelled order.", body = shown::ShownOrder)),
)]
pub(crate) async fn cancel(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    order: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let order_id = order_id(&order)?;
    let body = read_optional_json(&request, payload).await?;
    let (business, orders) = (session.business, state.peers.orders.clone());
    let call = async move { orders.cancel(business, &order_id.to_string(), &body).await };
    let event = move |cancelled: &OrderView| {
        let target = Target::new(TargetKind::Order, order_id).labelled(&cancelled.order_reference);
        AuditEvent::once(Action::OrderCancelled, target)
    };
    let cancelled = forward(&state, business, author.0, event, call).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %order_id, "order cancelled from the portal"
    );
    Ok(cancelled)
}
