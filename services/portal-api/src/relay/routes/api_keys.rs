//! `/v1/portal/api-keys`: forwarded to key-management. This service decides whether a business may have a live key.

use actix_web::web::{Data, Path, Payload, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::{ApiKeyId, BusinessId, Mode, UserId};
use internal_api::keys::{ApiKeyView, CreatedApiKey};
use serde::Serialize;
use serde_json::{Value, json};
use web::{ApiError, JsonBody, read_optional_json, read_query};

use crate::audit::domain::{Action, AuditEvent};
use crate::business::queries::businesses;
use crate::domain::{Permission, Session};
use crate::go_live::commands::confirm_go_live::confirm_go_live;
use crate::http::audited::{UserAuthor, audited, audited_each};
use crate::http::caller::require_recent;
use crate::http::errors;
use crate::http::openapi::{bodies, params};
use crate::relay::commands::key_events::{key_event, revoked_events};
use crate::state::State;
use crate::team::queries::users;

/// An API key in the list.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct ListedApiKey {
    #[serde(flatten)]
    key: ApiKeyView,
    /// The e-mail address of the user who created it, or rotated its predecessor. Left out for viewers, and if the user was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_by_email: Option<String>,
}

#[utoipa::path(
    get,
    path = "/v1/portal/api-keys",
    operation_id = "listApiKeys",
    tag = "API keys",
    summary = "List keys, newest first",
    params(params::ApiKeysParams),
    responses((status = 200, description = "A page of keys.", body = internal_api::Page<ListedApiKey>)),
)]
pub(crate) async fn list(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (page, created_by) =
        read_query(&request, |query| (query.page(), query.parsed("createdBy", "the id of a user")))?;
    let keys = match created_by {
        Some(user) => state.peers.keys.list_of(session.business, user, &page).await?,
        None => state.peers.keys.list(session.business, &page).await?,
    };
    // Viewers do not see who belongs to the team.
    let sees_team = session.role.may(Permission::ManageIntegration);
    let creators: Vec<UserId> =
        keys.data.iter().filter(|_| sees_team).filter_map(|key| key.created_by).collect();
    let emails = users::emails_by_id(&state, session.business, &creators).await?;
    let listed = keys.map(|key| {
        let created_by_email = key.created_by.and_then(|user| emails.get(&user).cloned());
        ListedApiKey { key, created_by_email }
    });
    Ok(HttpResponse::Ok().json(listed))
}

/// The only response that contains the key.
#[utoipa::path(
    post,
    path = "/v1/portal/api-keys",
    operation_id = "createApiKey",
    tag = "API keys",
    summary = "Create a key",
    request_body = bodies::CreateApiKey,
    responses((status = 201, description = "The key, which is shown only once.", body = internal_api::keys::CreatedApiKey)),
)]
pub(crate) async fn create(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    if body.0.get("mode").and_then(Value::as_str) == Some(Mode::Live.as_str()) {
        require_recent(&state, Some(session.authenticated_at))?;
        require_unlocked(&state, session.business).await?;
    }
    let (business, user, keys) = (session.business, session.user, state.peers.keys.clone());
    let call = async move { Ok(keys.create(business, Some(user), &body.0).await?) };
    let event = |created: &CreatedApiKey| issued_event(Action::ApiKeyCreated, created);
    let created = audited(&state, business, author.0, call, event).await?;
    tracing::info!(
        business_id = %session.business,
        user_id = %session.user,
        key_id = %created.view.id,
        mode = %created.view.mode,
        "API key created"
    );
    Ok(HttpResponse::Created().json(created))
}

#[utoipa::path(
    post,
    path = "/v1/portal/api-keys/{id}/revoke",
    operation_id = "revokeApiKey",
    tag = "API keys",
    summary = "Revoke a key immediately, with its predecessors that are still in their grace period",
    params(("id" = domain::ApiKeyId, Path, description = "The key.")),
    request_body(content = Option<bodies::RevokeApiKey>),
    responses((status = 200, description = "The revoked key.", body = internal_api::keys::RevokedApiKey)),
)]
pub(crate) async fn revoke(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    key: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let key = key_id(&key)?;
    let body = read_optional_json(&request, payload).await?;
    let (business, keys) = (session.business, state.peers.keys.clone());
    let call = async move { Ok(keys.revoke(business, &key.to_string(), &body).await?) };
    let revoked = audited_each(&state, business, author.0, call, revoked_events).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, key_id = %key, "API key revoked"
    );
    Ok(HttpResponse::Ok().json(revoked))
}

#[utoipa::path(
    post,
    path = "/v1/portal/api-keys/{id}/rotate",
    operation_id = "rotateApiKey",
    tag = "API keys",
    summary = "Replace a key. The old key keeps working for a grace period",
    params(("id" = domain::ApiKeyId, Path, description = "The key.")),
    request_body = bodies::RotateApiKey,
    responses((status = 200, description = "The new key, which is shown only once.", body = internal_api::keys::CreatedApiKey)),
)]
pub(crate) async fn rotate(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    key: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let key = key_id(&key)?;
    if let Err(error) = require_recent(&state, Some(session.authenticated_at))
        && state.peers.keys.read(session.business, &key.to_string()).await?.mode == Mode::Live
    {
        return Err(error);
    }
    let (business, user, keys) = (session.business, session.user, state.peers.keys.clone());
    let call = async move { Ok(keys.rotate(business, &key.to_string(), Some(user), &body.0).await?) };
    let event = move |created: &CreatedApiKey| {
        issued_event(Action::ApiKeyRotated, created).with("replaces", key.to_string())
    };
    let created = audited(&state, business, author.0, call, event).await?;
    tracing::info!(
        business_id = %session.business,
        user_id = %session.user,
        key_id = %key,
        new_key_id = %created.view.id,
        "API key rotated"
    );
    Ok(HttpResponse::Ok().json(created))
}

/// With the options of the new key.
fn issued_event(action: Action, created: &CreatedApiKey) -> AuditEvent {
    let key = &created.view;
    let options = [
        ("expiresAt", json!(key.expires_at)),
        ("scopes", json!(key.scopes)),
        ("ipAllowList", json!(key.ip_allow_list)),
    ];
    let given = options.into_iter().filter(|(_, value)| !value.is_null());
    given.fold(key_event(action, key), |event, (name, value)| event.with(name, value))
}

/// 403 while a go-live item is open (SPECIFICATION §3.2); 503 if that is unknown.
async fn require_unlocked(state: &State, business: BusinessId) -> Result<(), ApiError> {
    let standing = businesses::standing(state, business).await?.ok_or_else(errors::business_not_found)?;
    if standing.missing().is_empty() {
        return Ok(());
    }
    let confirmed = confirm_go_live(state, standing).await?;
    if confirmed.is_undecided() {
        return Err(ApiError::unavailable());
    }
    match confirmed.standing.missing().as_slice() {
        [] => Ok(()),
        missing => Err(errors::live_api_locked(missing)),
    }
}

/// Parsing also keeps malformed ids out of the path of the forwarded call.
fn key_id(text: &str) -> Result<ApiKeyId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("api_key_not_found", "API key"))
}
