//! `/v1/portal/webhook-endpoints`: passed on to webhook-dispatcher.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::EndpointId;
use web::{ApiError, JsonBody, page_query};

use super::openapi::{bodies, params};
use crate::app::App;
use crate::domain::Session;

#[utoipa::path(
    get,
    path = "/v1/portal/webhook-endpoints",
    operation_id = "listEndpoints",
    tag = "Webhooks",
    summary = "List endpoints, newest first",
    params(params::PageParams),
    responses((status = 200, description = "A page of endpoints.", body = internal_api::Page<internal_api::webhooks::EndpointView>)),
)]
pub(super) async fn list(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = page_query(&request)?;
    Ok(HttpResponse::Ok().json(app.peers.webhooks.list(session.business, &page).await?))
}

/// The one answer that carries the signing secret.
#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints",
    operation_id = "createEndpoint",
    tag = "Webhooks",
    summary = "Create an endpoint",
    request_body = bodies::CreateEndpoint,
    responses((status = 201, description = "The endpoint, with its secret, which is shown this once.", body = internal_api::webhooks::CreatedEndpoint)),
)]
pub(super) async fn create(
    app: Data<App>,
    session: ReqData<Session>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let created = app.peers.webhooks.create(session.business, &body.0).await?;
    let endpoint_id = created.view.id;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, "a webhook endpoint was created"
    );
    Ok(HttpResponse::Created().json(created))
}

#[utoipa::path(
    get,
    path = "/v1/portal/webhook-endpoints/{id}",
    operation_id = "readEndpoint",
    tag = "Webhooks",
    summary = "Read an endpoint",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    responses((status = 200, description = "The endpoint.", body = internal_api::webhooks::EndpointView)),
)]
pub(super) async fn read(
    app: Data<App>,
    session: ReqData<Session>,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let endpoint = endpoint_id(&endpoint)?.to_string();
    Ok(HttpResponse::Ok().json(app.peers.webhooks.get(session.business, &endpoint).await?))
}

#[utoipa::path(
    patch,
    path = "/v1/portal/webhook-endpoints/{id}",
    operation_id = "updateEndpoint",
    tag = "Webhooks",
    summary = "Change an endpoint, pause or enable it",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    request_body = bodies::UpdateEndpoint,
    responses((status = 200, description = "The endpoint.", body = internal_api::webhooks::EndpointView)),
)]
pub(super) async fn update(
    app: Data<App>,
    session: ReqData<Session>,
    endpoint: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    let updated = app.peers.webhooks.update(session.business, &endpoint_id.to_string(), &body.0).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, "a webhook endpoint was changed"
    );
    Ok(HttpResponse::Ok().json(updated))
}

#[utoipa::path(
    delete,
    path = "/v1/portal/webhook-endpoints/{id}",
    operation_id = "deleteEndpoint",
    tag = "Webhooks",
    summary = "Delete an endpoint",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    responses((status = 204, description = "It is gone.")),
)]
pub(super) async fn remove(
    app: Data<App>,
    session: ReqData<Session>,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    app.peers.webhooks.delete(session.business, &endpoint_id.to_string()).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, "a webhook endpoint was deleted"
    );
    Ok(HttpResponse::NoContent().finish())
}

/// Sends what was parked while the endpoint was disabled.
#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/parked/replay",
    operation_id = "replayParked",
    tag = "Webhooks",
    summary = "Send what came while it was disabled",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    responses((status = 200, description = "The endpoint.", body = internal_api::webhooks::EndpointView)),
)]
pub(super) async fn replay_parked(
    app: Data<App>,
    session: ReqData<Session>,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    decide_parked(&app, &session, &endpoint, "replay").await
}

/// Gives up what was parked while the endpoint was disabled.
#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/parked/discard",
    operation_id = "discardParked",
    tag = "Webhooks",
    summary = "Give up what came while it was disabled",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    responses((status = 200, description = "The endpoint.", body = internal_api::webhooks::EndpointView)),
)]
pub(super) async fn discard_parked(
    app: Data<App>,
    session: ReqData<Session>,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    decide_parked(&app, &session, &endpoint, "discard").await
}

async fn decide_parked(
    app: &App,
    session: &Session,
    endpoint: &str,
    decision: &'static str,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(endpoint)?;
    let view = app.peers.webhooks.decide_parked(session.business, &endpoint_id.to_string(), decision).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, decision, "parked webhooks were decided on"
    );
    Ok(HttpResponse::Accepted().json(view))
}

/// Sends a test event right away and tells what came of it; as slow as the endpoint, within bounds.
#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/test",
    operation_id = "testEndpoint",
    tag = "Webhooks",
    summary = "Send a test event now",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    responses((status = 200, description = "What came of it.", body = internal_api::webhooks::TestResult)),
)]
pub(super) async fn test(
    app: Data<App>,
    session: ReqData<Session>,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let endpoint = endpoint_id(&endpoint)?.to_string();
    Ok(HttpResponse::Ok().json(app.peers.webhook_tests.test(session.business, &endpoint).await?))
}

pub(super) fn endpoint_id(text: &str) -> Result<EndpointId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("webhook_endpoint_not_found", "webhook endpoint"))
}
