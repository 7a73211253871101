//! `/v1/portal/webhook-endpoints`: passed on to webhook-dispatcher.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::EndpointId;
use web::{ApiError, JsonBody, page_query};

use crate::app::App;
use crate::domain::Session;

pub(super) async fn list(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = page_query(&request)?;
    Ok(HttpResponse::Ok().json(app.peers.webhooks.list(session.business, &page).await?))
}

/// The one answer that carries the signing secret.
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

pub(super) async fn read(
    app: Data<App>,
    session: ReqData<Session>,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let endpoint = endpoint_id(&endpoint)?.to_string();
    Ok(HttpResponse::Ok().json(app.peers.webhooks.get(session.business, &endpoint).await?))
}

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
pub(super) async fn replay_parked(
    app: Data<App>,
    session: ReqData<Session>,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    decide_parked(&app, &session, &endpoint, "replay").await
}

/// Gives up what was parked while the endpoint was disabled.
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
