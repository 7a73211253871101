//! Tools for webhook endpoints: secret rotation, recovery of missed webhooks, signature checks. Forwarded to
//! webhook-dispatcher.

use actix_web::web::{Data, Path, Payload, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::RecoveryId;
use internal_api::webhooks::RecoveryView;
use web::{ApiError, JsonBody, page_query, read_optional_json};

use crate::audit::domain::{Action, AuditEvent, Target, TargetKind};
use crate::domain::Session;
use crate::http::audited::{UserAuthor, audited};
use crate::http::openapi::{bodies, params};
use crate::relay::routes::webhook_endpoints::{endpoint_event, endpoint_id, require_recent_for_live};
use crate::state::State;

/// The only response that contains the new secret.
#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/secret/rotate",
    operation_id = "rotateSecret",
    tag = "Webhooks",
    summary = "Stage a new secret",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    request_body(content = Option<bodies::RotateSecret>),
    responses((status = 200, description = "The endpoint with the new secret, which is shown only once.", body = internal_api::webhooks::CreatedEndpoint)),
)]
pub(crate) async fn rotate_secret(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    endpoint: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    require_recent_for_live(&state, &session, endpoint_id).await?;
    let body = read_optional_json(&request, payload).await?;
    let (business, webhooks) = (session.business, state.peers.webhooks.clone());
    let call = async move { Ok(webhooks.rotate_secret(business, &endpoint_id.to_string(), &body).await?) };
    let event = move |_: &_| endpoint_event(Action::SecretRotated, endpoint_id);
    let rotated = audited(&state, business, author.0, call, event).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, "webhook secret rotated"
    );
    Ok(HttpResponse::Ok().json(rotated))
}

#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/secret/activate",
    operation_id = "activateSecret",
    tag = "Webhooks",
    summary = "Sign only with the new secret",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    responses((status = 200, description = "The endpoint.", body = internal_api::webhooks::EndpointView)),
)]
pub(crate) async fn activate_secret(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    require_recent_for_live(&state, &session, endpoint_id).await?;
    let (business, webhooks) = (session.business, state.peers.webhooks.clone());
    let call = async move { Ok(webhooks.activate_secret(business, &endpoint_id.to_string()).await?) };
    let event = move |_: &_| endpoint_event(Action::SecretActivated, endpoint_id);
    let view = audited(&state, business, author.0, call, event).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, "webhook secret activated"
    );
    Ok(HttpResponse::Ok().json(view))
}

#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/recover",
    operation_id = "recover",
    tag = "Webhooks",
    summary = "Resend missed webhooks",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    request_body = bodies::Recover,
    responses((status = 202, description = "The recovery.", body = internal_api::webhooks::RecoveryView)),
)]
pub(crate) async fn recover(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    endpoint: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    let (business, webhooks) = (session.business, state.peers.webhooks.clone());
    let call = async move { Ok(webhooks.recover(business, &endpoint_id.to_string(), &body.0).await?) };
    let event = |started: &RecoveryView| recovery_event(Action::RecoveryStarted, started);
    let started = audited(&state, business, author.0, call, event).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, recovery_id = %started.id,
        "webhook recovery started"
    );
    Ok(HttpResponse::Accepted().json(started))
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
pub(crate) async fn recoveries(
    state: Data<State>,
    session: ReqData<Session>,
    endpoint: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let endpoint = endpoint_id(&endpoint)?.to_string();
    let page = page_query(&request)?;
    Ok(HttpResponse::Ok().json(state.peers.webhooks.recoveries(session.business, &endpoint, &page).await?))
}

#[utoipa::path(
    get,
    path = "/v1/portal/webhook-endpoints/{id}/recoveries/{recovery}",
    operation_id = "readRecovery",
    tag = "Webhooks",
    summary = "Read a recovery",
    params(("id" = domain::EndpointId, Path, description = "The endpoint."), ("recovery" = domain::RecoveryId, Path, description = "The recovery.")),
    responses((status = 200, description = "The recovery.", body = internal_api::webhooks::RecoveryView)),
)]
pub(crate) async fn recovery(
    state: Data<State>,
    session: ReqData<Session>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (endpoint, id) = (endpoint_id(&ids.0)?.to_string(), recovery_id(&ids.1)?.to_string());
    Ok(HttpResponse::Ok().json(state.peers.webhooks.recovery(session.business, &endpoint, &id).await?))
}

#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/recoveries/{recovery}/cancel",
    operation_id = "cancelRecovery",
    tag = "Webhooks",
    summary = "Stop a recovery",
    params(("id" = domain::EndpointId, Path, description = "The endpoint."), ("recovery" = domain::RecoveryId, Path, description = "The recovery.")),
    responses((status = 200, description = "The recovery.", body = internal_api::webhooks::RecoveryView)),
)]
pub(crate) async fn cancel_recovery(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (endpoint, recovery_id) = (endpoint_id(&ids.0)?.to_string(), recovery_id(&ids.1)?);
    let (business, webhooks) = (session.business, state.peers.webhooks.clone());
    let call =
        async move { Ok(webhooks.cancel_recovery(business, &endpoint, &recovery_id.to_string()).await?) };
    let event = |cancelled: &RecoveryView| recovery_event(Action::RecoveryCancelled, cancelled);
    let cancelled = audited(&state, business, author.0, call, event).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %recovery_id, "webhook recovery cancelled"
    );
    Ok(HttpResponse::Ok().json(cancelled))
}

/// The response contains a valid signature of the given body. It needs a session, and is never logged.
#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/verify-signature",
    operation_id = "verifySignature",
    tag = "Webhooks",
    summary = "Find out why a signature does not match",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    request_body = bodies::VerifySignature,
    responses((status = 200, description = "The findings.", body = internal_api::webhooks::SignatureFindings)),
)]
pub(crate) async fn verify_signature(
    state: Data<State>,
    session: ReqData<Session>,
    endpoint: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let endpoint = endpoint_id(&endpoint)?.to_string();
    let findings = state.peers.webhooks.verify_signature(session.business, &endpoint, &body.0).await?;
    Ok(HttpResponse::Ok().json(findings))
}

fn recovery_event(action: Action, recovery: &RecoveryView) -> AuditEvent {
    AuditEvent::new(action)
        .on(Target::new(TargetKind::WebhookRecovery, recovery.id))
        .with("endpointId", recovery.endpoint_id.to_string())
}

fn recovery_id(text: &str) -> Result<RecoveryId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("webhook_recovery_not_found", "webhook recovery"))
}
