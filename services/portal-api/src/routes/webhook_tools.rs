//! What owners of webhook endpoints do about them: rotate the secret, have sent again what was missed, find out why a
//! signature does not match. Passed on to webhook-dispatcher.

use actix_web::web::{Data, Path, Payload, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::RecoveryId;
use internal_api::webhooks::RecoveryView;
use web::{ApiError, JsonBody, page_query, read_optional_json};

use super::author::{ByUser, acted};
use super::openapi::{bodies, params};
use super::webhook_endpoints::{endpoint_act, endpoint_id};
use crate::app::App;
use crate::domain::{Act, Action, Session, Target, TargetKind};

/// The one answer that carries the new secret.
#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/secret/rotate",
    operation_id = "rotateSecret",
    tag = "Webhooks",
    summary = "Stage a new secret",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    request_body(content = Option<bodies::RotateSecret>),
    responses((status = 200, description = "The endpoint, with the new secret, which is shown this once.", body = internal_api::webhooks::CreatedEndpoint)),
)]
pub(super) async fn rotate_secret(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    endpoint: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    let body = read_optional_json(&request, payload).await?;
    let (business, webhooks) = (session.business, app.peers.webhooks.clone());
    let call = async move { Ok(webhooks.rotate_secret(business, &endpoint_id.to_string(), &body).await?) };
    let act = move |_: &_| endpoint_act(Action::SecretRotated, endpoint_id);
    let rotated = acted(&app, business, author.0, call, act).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, "a webhook secret was rotated"
    );
    Ok(HttpResponse::Ok().json(rotated))
}

#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/secret/activate",
    operation_id = "activateSecret",
    tag = "Webhooks",
    summary = "Sign with the new secret alone",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    responses((status = 200, description = "The endpoint.", body = internal_api::webhooks::EndpointView)),
)]
pub(super) async fn activate_secret(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    let (business, webhooks) = (session.business, app.peers.webhooks.clone());
    let call = async move { Ok(webhooks.activate_secret(business, &endpoint_id.to_string()).await?) };
    let act = move |_: &_| endpoint_act(Action::SecretActivated, endpoint_id);
    let view = acted(&app, business, author.0, call, act).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, "a webhook secret was activated"
    );
    Ok(HttpResponse::Ok().json(view))
}

#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/recover",
    operation_id = "recover",
    tag = "Webhooks",
    summary = "Send again what was missed",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    request_body = bodies::Recover,
    responses((status = 202, description = "The job.", body = internal_api::webhooks::RecoveryView)),
)]
pub(super) async fn recover(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    endpoint: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    let (business, webhooks) = (session.business, app.peers.webhooks.clone());
    let call = async move { Ok(webhooks.recover(business, &endpoint_id.to_string(), &body.0).await?) };
    let act = |begun: &RecoveryView| recovery_act(Action::RecoveryStarted, begun);
    let begun = acted(&app, business, author.0, call, act).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, recovery_id = %begun.id,
        "missed webhooks are to be sent again"
    );
    Ok(HttpResponse::Accepted().json(begun))
}

#[utoipa::path(
    get,
    path = "/v1/portal/webhook-endpoints/{id}/recoveries",
    operation_id = "listRecoveries",
    tag = "Webhooks",
    summary = "List recoveries, newest first",
    params(("id" = domain::EndpointId, Path, description = "The endpoint."), params::PageParams),
    responses((status = 200, description = "A page of recoveries.", body = internal_api::Page<internal_api::webhooks::RecoveryView>)),
)]
pub(super) async fn recoveries(
    app: Data<App>,
    session: ReqData<Session>,
    endpoint: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let endpoint = endpoint_id(&endpoint)?.to_string();
    let page = page_query(&request)?;
    Ok(HttpResponse::Ok().json(app.peers.webhooks.recoveries(session.business, &endpoint, &page).await?))
}

#[utoipa::path(
    get,
    path = "/v1/portal/webhook-endpoints/{id}/recoveries/{recovery}",
    operation_id = "readRecovery",
    tag = "Webhooks",
    summary = "How a recovery stands",
    params(("id" = domain::EndpointId, Path, description = "The endpoint."), ("recovery" = domain::RecoveryId, Path, description = "The recovery.")),
    responses((status = 200, description = "The job.", body = internal_api::webhooks::RecoveryView)),
)]
pub(super) async fn recovery(
    app: Data<App>,
    session: ReqData<Session>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (endpoint, id) = (endpoint_id(&ids.0)?.to_string(), recovery_id(&ids.1)?.to_string());
    Ok(HttpResponse::Ok().json(app.peers.webhooks.recovery(session.business, &endpoint, &id).await?))
}

#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/recoveries/{recovery}/cancel",
    operation_id = "cancelRecovery",
    tag = "Webhooks",
    summary = "Stop a recovery",
    params(("id" = domain::EndpointId, Path, description = "The endpoint."), ("recovery" = domain::RecoveryId, Path, description = "The recovery.")),
    responses((status = 200, description = "The job.", body = internal_api::webhooks::RecoveryView)),
)]
pub(super) async fn cancel_recovery(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (endpoint, recovery_id) = (endpoint_id(&ids.0)?.to_string(), recovery_id(&ids.1)?);
    let (business, webhooks) = (session.business, app.peers.webhooks.clone());
    let call =
        async move { Ok(webhooks.cancel_recovery(business, &endpoint, &recovery_id.to_string()).await?) };
    let act = |cancelled: &RecoveryView| recovery_act(Action::RecoveryCancelled, cancelled);
    let cancelled = acted(&app, business, author.0, call, act).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %recovery_id, "a recovery was cancelled"
    );
    Ok(HttpResponse::Ok().json(cancelled))
}

/// Its answer holds a good signature of what was sent in, which is for the eyes of the secret's owner: it stands behind his
/// session, and is never logged.
#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/verify-signature",
    operation_id = "verifySignature",
    tag = "Webhooks",
    summary = "Why a signature does not match",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    request_body = bodies::VerifySignature,
    responses((status = 200, description = "What is wrong with it.", body = internal_api::webhooks::SignatureFindings)),
)]
pub(super) async fn verify_signature(
    app: Data<App>,
    session: ReqData<Session>,
    endpoint: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let endpoint = endpoint_id(&endpoint)?.to_string();
    let findings = app.peers.webhooks.verify_signature(session.business, &endpoint, &body.0).await?;
    Ok(HttpResponse::Ok().json(findings))
}

fn recovery_act(action: Action, recovery: &RecoveryView) -> Act {
    Act::new(action)
        .on(Target::new(TargetKind::WebhookRecovery, recovery.id))
        .with("endpointId", recovery.endpoint_id.to_string())
}

fn recovery_id(text: &str) -> Result<RecoveryId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("webhook_recovery_not_found", "webhook recovery"))
}
