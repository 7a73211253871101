//! `/v1/portal/webhook-endpoints`: passed on to webhook-dispatcher.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::EndpointId;
use internal_api::webhooks::{CreatedEndpoint, EndpointView, TestResult};
use serde_json::Value;
use web::{ApiError, JsonBody, page_query};

use super::author::{ByUser, acted};
use super::openapi::{bodies, params};
use crate::app::App;
use crate::domain::{Act, Action, Session, Target, TargetKind};

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
    author: ByUser,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (business, webhooks) = (session.business, app.peers.webhooks.clone());
    let call = async move { Ok(webhooks.create(business, &body.0).await?) };
    let act = |created: &CreatedEndpoint| endpoint_act(Action::EndpointCreated, created.view.id);
    let created = acted(&app, business, author.0, call, act).await?;
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
    author: ByUser,
    endpoint: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    let (business, webhooks) = (session.business, app.peers.webhooks.clone());
    // The names of what was sent, not what was sent: an address may hold a secret of its owner's.
    let fields = known_fields(&body.0);
    let call = async move { Ok(webhooks.update(business, &endpoint_id.to_string(), &body.0).await?) };
    let act =
        move |_: &EndpointView| endpoint_act(Action::EndpointUpdated, endpoint_id).with("fields", fields);
    let updated = acted(&app, business, author.0, call, act).await?;
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
    author: ByUser,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    let (business, webhooks) = (session.business, app.peers.webhooks.clone());
    let call = async move { Ok(webhooks.delete(business, &endpoint_id.to_string()).await?) };
    let act = move |(): &()| endpoint_act(Action::EndpointDeleted, endpoint_id);
    acted(&app, business, author.0, call, act).await?;
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
    author: ByUser,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    decide_parked(&app, &session, author, &endpoint, ("replay", Action::ParkedReplayed)).await
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
    author: ByUser,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    decide_parked(&app, &session, author, &endpoint, ("discard", Action::ParkedDiscarded)).await
}

async fn decide_parked(
    app: &Data<App>,
    session: &Session,
    author: ByUser,
    endpoint: &str,
    (decision, action): (&'static str, Action),
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(endpoint)?;
    let (business, webhooks) = (session.business, app.peers.webhooks.clone());
    let call = async move { Ok(webhooks.decide_parked(business, &endpoint_id.to_string(), decision).await?) };
    let act = move |_: &EndpointView| endpoint_act(action, endpoint_id);
    let view = acted(app, business, author.0, call, act).await?;
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
    author: ByUser,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    let (business, webhooks) = (session.business, app.peers.webhook_tests.clone());
    let call = async move { Ok(webhooks.test(business, &endpoint_id.to_string()).await?) };
    let act = move |result: &TestResult| {
        endpoint_act(Action::EndpointTested, endpoint_id).with("succeeded", result.succeeded)
    };
    Ok(HttpResponse::Ok().json(acted(&app, business, author.0, call, act).await?))
}

pub(super) fn endpoint_act(action: Action, endpoint: EndpointId) -> Act {
    Act::new(action).on(Target::new(TargetKind::WebhookEndpoint, endpoint))
}

/// Which of an endpoint's own fields a change names.
fn known_fields(body: &Value) -> Vec<&'static str> {
    const KNOWN: [&str; 6] = ["url", "events", "modes", "status", "paused", "maxPerSecond"];
    KNOWN.into_iter().filter(|name| body.get(name).is_some()).collect()
}

pub(super) fn endpoint_id(text: &str) -> Result<EndpointId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("webhook_endpoint_not_found", "webhook endpoint"))
}
