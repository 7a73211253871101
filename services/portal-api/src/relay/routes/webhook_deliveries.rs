//! The delivery log: forwarded to webhook-dispatcher.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::WebhookDeliveryId;
use web::ApiError;

use crate::audit::domain::{Action, AuditEvent, Target, TargetKind};
use crate::domain::Session;
use crate::http::audited::{UserAuthor, audited};
use crate::http::openapi::{params, shown};
use crate::relay::routes::webhook_endpoints::{delivery_for, endpoint_id};
use crate::state::State;

#[utoipa::path(
    get,
    path = "/v1/portal/webhook-endpoints/{id}/deliveries",
    operation_id = "listDeliveries",
    tag = "Webhooks",
    summary = "Read the delivery log, newest first",
    params(("id" = domain::EndpointId, Path, description = "The endpoint."), params::DeliveriesParams),
    responses((status = 200, description = "A page of the log.", body = internal_api::webhooks::DeliveriesPage)),
)]
pub(crate) async fn of_endpoint(
    state: Data<State>,
    session: ReqData<Session>,
    endpoint: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let endpoint = endpoint_id(&endpoint)?.to_string();
    let log = state.peers.webhooks.deliveries(session.business, &endpoint, request.query_string()).await?;
    Ok(HttpResponse::Ok().json(log))
}

#[utoipa::path(
    get,
    path = "/v1/portal/webhook-deliveries/{id}",
    operation_id = "readDelivery",
    tag = "Webhooks",
    summary = "Read a delivery with all attempts",
    params(("id" = domain::WebhookDeliveryId, Path, description = "The delivery.")),
    responses((status = 200, description = "The delivery.", body = shown::ShownDelivery)),
)]
pub(crate) async fn read(
    state: Data<State>,
    session: ReqData<Session>,
    delivery: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let delivery = delivery_id(&delivery)?.to_string();
    let found = state.peers.webhooks.delivery(session.business, &delivery).await?;
    Ok(HttpResponse::Ok().json(delivery_for(session.role, found)))
}

/// Queues the same event again.
#[utoipa::path(
    post,
    path = "/v1/portal/webhook-deliveries/{id}/redeliver",
    operation_id = "redeliver",
    tag = "Webhooks",
    summary = "Send a delivery again",
    params(("id" = domain::WebhookDeliveryId, Path, description = "The delivery.")),
    responses((status = 202, description = "The result.", body = internal_api::webhooks::Redelivered)),
)]
pub(crate) async fn redeliver(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    delivery: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let delivery_id = delivery_id(&delivery)?;
    let (business, webhooks) = (session.business, state.peers.webhooks.clone());
    let call = async move { Ok(webhooks.redeliver(business, &delivery_id.to_string()).await?) };
    let event = move |_: &_| {
        AuditEvent::new(Action::DeliveryRedelivered).on(Target::new(TargetKind::WebhookDelivery, delivery_id))
    };
    let queued = audited(&state, business, author.0, call, event).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %delivery_id, "webhook redelivery requested"
    );
    Ok(HttpResponse::Accepted().json(queued))
}

fn delivery_id(text: &str) -> Result<WebhookDeliveryId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("webhook_delivery_not_found", "webhook delivery"))
}
