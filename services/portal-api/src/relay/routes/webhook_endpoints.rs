//! `/v1/portal/webhook-endpoints`: forwarded to webhook-dispatcher.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::{EndpointId, Mode};
use internal_api::webhooks::{AttemptView, CreatedEndpoint, DeliveryDetails, EndpointView, TestResult};
use serde_json::{Value, json};
use url::Url;
use web::{ApiError, JsonBody, page_query};

use crate::audit::domain::{Action, AuditEvent, Target, TargetKind};
use crate::domain::{HIDDEN, Permission, Role, Session};
use crate::http::audited::{UserAuthor, audited};
use crate::http::caller::require_recent;
use crate::http::openapi::{bodies, params};
use crate::state::State;

#[utoipa::path(
    get,
    path = "/v1/portal/webhook-endpoints",
    operation_id = "listEndpoints",
    tag = "Webhooks",
    summary = "List endpoints, newest first",
    params(params::PageParams),
    responses((status = 200, description = "A page of endpoints.", body = internal_api::Page<internal_api::webhooks::EndpointView>)),
)]
pub(crate) async fn list(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = page_query(&request)?;
    let endpoints = state.peers.webhooks.list(session.business, &page).await?;
    Ok(HttpResponse::Ok().json(endpoints.map(|endpoint| endpoint_for(session.role, endpoint))))
}

/// The only response that contains the signing secret.
#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints",
    operation_id = "createEndpoint",
    tag = "Webhooks",
    summary = "Create an endpoint",
    request_body = bodies::CreateEndpoint,
    responses((status = 201, description = "The endpoint with its secret, which is shown only once.", body = internal_api::webhooks::CreatedEndpoint)),
)]
pub(crate) async fn create(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    // Without modes, it gets the webhooks of both.
    if body.0.get("modes").is_none_or(Value::is_null) || names_live(&body.0) {
        require_recent(&state, Some(session.authenticated_at))?;
    }
    let (business, webhooks) = (session.business, state.peers.webhooks.clone());
    let call = async move { Ok(webhooks.create(business, &body.0).await?) };
    let event = |created: &CreatedEndpoint| endpoint_event(Action::EndpointCreated, created.view.id);
    let created = audited(&state, business, author.0, call, event).await?;
    let endpoint_id = created.view.id;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, "webhook endpoint created"
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
pub(crate) async fn read(
    state: Data<State>,
    session: ReqData<Session>,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let endpoint = endpoint_id(&endpoint)?.to_string();
    let found = state.peers.webhooks.get(session.business, &endpoint).await?;
    Ok(HttpResponse::Ok().json(endpoint_for(session.role, found)))
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
pub(crate) async fn update(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    endpoint: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    if names_live(&body.0) {
        require_recent(&state, Some(session.authenticated_at))?;
    }
    require_recent_for_live(&state, &session, endpoint_id).await?;
    let (business, webhooks) = (session.business, state.peers.webhooks.clone());
    // Logs only the names of the fields: a URL may contain a secret.
    let fields = known_fields(&body.0);
    let call = async move { Ok(webhooks.update(business, &endpoint_id.to_string(), &body.0).await?) };
    let event =
        move |_: &EndpointView| endpoint_event(Action::EndpointUpdated, endpoint_id).with("fields", fields);
    let updated = audited(&state, business, author.0, call, event).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, "webhook endpoint changed"
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
    responses((status = 204, description = "The endpoint is deleted.")),
)]
pub(crate) async fn remove(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    require_recent_for_live(&state, &session, endpoint_id).await?;
    let (business, webhooks) = (session.business, state.peers.webhooks.clone());
    let call = async move { Ok(webhooks.delete(business, &endpoint_id.to_string()).await?) };
    let event = move |(): &()| endpoint_event(Action::EndpointDeleted, endpoint_id);
    audited(&state, business, author.0, call, event).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, "webhook endpoint deleted"
    );
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/parked/replay",
    operation_id = "replayParked",
    tag = "Webhooks",
    summary = "Send the webhooks that were parked while the endpoint was disabled",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    responses((status = 202, description = "The endpoint.", body = internal_api::webhooks::EndpointView)),
)]
pub(crate) async fn replay_parked(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    decide_parked(&state, &session, author, &endpoint, ("replay", Action::ParkedReplayed)).await
}

#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/parked/discard",
    operation_id = "discardParked",
    tag = "Webhooks",
    summary = "Discard the webhooks that were parked while the endpoint was disabled",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    responses((status = 202, description = "The endpoint.", body = internal_api::webhooks::EndpointView)),
)]
pub(crate) async fn discard_parked(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    require_recent_for_live(&state, &session, endpoint_id(&endpoint)?).await?;
    decide_parked(&state, &session, author, &endpoint, ("discard", Action::ParkedDiscarded)).await
}

async fn decide_parked(
    state: &Data<State>,
    session: &Session,
    author: UserAuthor,
    endpoint: &str,
    (decision, action): (&'static str, Action),
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(endpoint)?;
    let (business, webhooks) = (session.business, state.peers.webhooks.clone());
    let call = async move { Ok(webhooks.decide_parked(business, &endpoint_id.to_string(), decision).await?) };
    let event = move |_: &EndpointView| endpoint_event(action, endpoint_id);
    let view = audited(state, business, author.0, call, event).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, %endpoint_id, decision, "parked webhooks replayed or discarded"
    );
    Ok(HttpResponse::Accepted().json(view))
}

/// Waits for the endpoint's response, up to a timeout.
#[utoipa::path(
    post,
    path = "/v1/portal/webhook-endpoints/{id}/test",
    operation_id = "testEndpoint",
    tag = "Webhooks",
    summary = "Send a test event",
    params(("id" = domain::EndpointId, Path, description = "The endpoint.")),
    responses((status = 200, description = "The result of the test.", body = internal_api::webhooks::TestResult)),
)]
pub(crate) async fn test(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    endpoint: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let endpoint_id = endpoint_id(&endpoint)?;
    let (business, webhooks) = (session.business, state.peers.webhook_tests.clone());
    let call = async move { Ok(webhooks.test(business, &endpoint_id.to_string()).await?) };
    let event = move |result: &TestResult| {
        endpoint_event(Action::EndpointTested, endpoint_id).with("succeeded", result.succeeded)
    };
    Ok(HttpResponse::Ok().json(audited(&state, business, author.0, call, event).await?))
}

fn names_live(body: &Value) -> bool {
    let modes = body.get("modes").and_then(Value::as_array);
    modes.is_some_and(|modes| modes.iter().any(|mode| mode == Mode::Live.as_str()))
}

/// A thief of a session must neither read nor redirect what an endpoint gets about real orders.
///
/// # Errors
/// 403 for an endpoint of live mode if the last authentication was too long ago.
pub(crate) async fn require_recent_for_live(
    state: &State,
    session: &Session,
    endpoint: EndpointId,
) -> Result<(), ApiError> {
    let Err(error) = require_recent(state, Some(session.authenticated_at)) else { return Ok(()) };
    let found = state.peers.webhooks.get(session.business, &endpoint.to_string()).await?;
    if found.modes.contains(&Mode::Live) { Err(error) } else { Ok(()) }
}

pub(crate) fn endpoint_event(action: Action, endpoint: EndpointId) -> AuditEvent {
    AuditEvent::new(action).on(Target::new(TargetKind::WebhookEndpoint, endpoint))
}

/// The known fields that a change contains.
fn known_fields(body: &Value) -> Vec<&'static str> {
    const KNOWN: [&str; 6] = ["url", "events", "modes", "status", "paused", "maxPerSecond"];
    KNOWN.into_iter().filter(|name| body.get(name).is_some()).collect()
}

/// The query of a URL may contain a secret: only roles that manage endpoints see it.
pub(crate) fn endpoint_for(role: Role, endpoint: EndpointView) -> EndpointView {
    if sees_queries(role) { endpoint } else { without_query(endpoint) }
}

/// Each attempt has the URL that it was sent to.
pub(crate) fn delivery_for(role: Role, mut delivery: DeliveryDetails) -> DeliveryDetails {
    if !sees_queries(role) {
        delivery.attempt_log.iter_mut().for_each(hide_query);
    }
    delivery
}

pub(crate) fn without_query(endpoint: EndpointView) -> EndpointView {
    EndpointView { url: cut(&endpoint.url).0, ..endpoint }
}

fn sees_queries(role: Role) -> bool {
    role.may(Permission::ManageIntegration)
}

/// Redirects and error pages repeat the query, in any form.
fn hide_query(attempt: &mut AttemptView) {
    let Some((url, query)) = attempt.url.as_deref().map(cut) else { return };
    attempt.url = Some(url);
    if query.is_some() {
        attempt.response_body = attempt.response_body.take().map(|_| HIDDEN.to_owned());
        attempt.response_headers = json!({});
    }
}

/// The URL without its query, and the query.
fn cut(url: &str) -> (String, Option<String>) {
    // URLs are validated when they are set.
    let Ok(mut parsed) = Url::parse(url) else { return (String::new(), None) };
    let query = parsed.query().filter(|query| !query.is_empty()).map(str::to_owned);
    match query {
        Some(query) => {
            parsed.set_query(None);
            (parsed.into(), Some(query))
        }
        None => (url.to_owned(), None),
    }
}

pub(crate) fn endpoint_id(text: &str) -> Result<EndpointId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("webhook_endpoint_not_found", "webhook endpoint"))
}
