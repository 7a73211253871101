//! `/v1/portal/api-keys`: passed on to key-management. Whether a business may have a live key is decided here.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::{ApiKeyId, BusinessId, Mode};
use internal_api::keys::{ApiKeyView, CreatedApiKey};
use serde_json::Value;
use web::{ApiError, JsonBody, page_query};

use super::author::{ByUser, acted};
use super::errors;
use super::openapi::{bodies, params};
use crate::app::App;
use crate::commands::confirm_go_live::confirm_go_live;
use crate::domain::{Act, Action, Session, Target, TargetKind};
use crate::store::businesses;

#[utoipa::path(
    get,
    path = "/v1/portal/api-keys",
    operation_id = "listApiKeys",
    tag = "API keys",
    summary = "List keys, newest first",
    params(params::PageParams),
    responses((status = 200, description = "A page of keys.", body = internal_api::Page<internal_api::keys::ApiKeyView>)),
)]
pub(super) async fn list(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = page_query(&request)?;
    Ok(HttpResponse::Ok().json(app.peers.keys.list(session.business, &page).await?))
}

/// The one answer that carries the key.
#[utoipa::path(
    post,
    path = "/v1/portal/api-keys",
    operation_id = "createApiKey",
    tag = "API keys",
    summary = "Create a key",
    request_body = bodies::CreateApiKey,
    responses((status = 201, description = "The key, which is shown this once.", body = internal_api::keys::CreatedApiKey)),
)]
pub(super) async fn create(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    if body.0.get("mode").and_then(Value::as_str) == Some(Mode::Live.as_str()) {
        require_unlocked(&app, session.business).await?;
    }
    let (business, keys) = (session.business, app.peers.keys.clone());
    let call = async move { Ok(keys.create(business, &body.0).await?) };
    let act = |created: &CreatedApiKey| key_act(Action::ApiKeyCreated, &created.view);
    let created = acted(&app, business, author.0, call, act).await?;
    tracing::info!(
        business_id = %session.business,
        user_id = %session.user,
        key_id = %created.view.id,
        mode = %created.view.mode,
        "an API key was created"
    );
    Ok(HttpResponse::Created().json(created))
}

#[utoipa::path(
    post,
    path = "/v1/portal/api-keys/{id}/revoke",
    operation_id = "revokeApiKey",
    tag = "API keys",
    summary = "Revoke a key at once",
    params(("id" = domain::ApiKeyId, Path, description = "The key.")),
    responses((status = 200, description = "The revoked key.", body = internal_api::keys::ApiKeyView)),
)]
pub(super) async fn revoke(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    key: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let key = key_id(&key)?;
    let (business, keys) = (session.business, app.peers.keys.clone());
    let call = async move { Ok(keys.revoke(business, &key.to_string()).await?) };
    let act = |revoked: &ApiKeyView| Act { once: true, ..key_act(Action::ApiKeyRevoked, revoked) };
    let revoked = acted(&app, business, author.0, call, act).await?;
    tracing::info!(
        business_id = %session.business, user_id = %session.user, key_id = %key, "an API key was revoked"
    );
    Ok(HttpResponse::Ok().json(revoked))
}

#[utoipa::path(
    post,
    path = "/v1/portal/api-keys/{id}/rotate",
    operation_id = "rotateApiKey",
    tag = "API keys",
    summary = "Replace a key, which goes on working for a while",
    params(("id" = domain::ApiKeyId, Path, description = "The key.")),
    request_body = bodies::RotateApiKey,
    responses((status = 200, description = "The new key, which is shown this once.", body = internal_api::keys::CreatedApiKey)),
)]
pub(super) async fn rotate(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    key: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let key = key_id(&key)?;
    let (business, keys) = (session.business, app.peers.keys.clone());
    let call = async move { Ok(keys.rotate(business, &key.to_string(), &body.0).await?) };
    let act = move |created: &CreatedApiKey| {
        key_act(Action::ApiKeyRotated, &created.view).with("replaces", key.to_string())
    };
    let created = acted(&app, business, author.0, call, act).await?;
    tracing::info!(
        business_id = %session.business,
        user_id = %session.user,
        key_id = %key,
        new_key_id = %created.view.id,
        "an API key was rotated"
    );
    Ok(HttpResponse::Ok().json(created))
}

/// A key is named by what may be shown of it.
fn key_act(action: Action, key: &ApiKeyView) -> Act {
    let target =
        Target::new(TargetKind::ApiKey, key.id).labelled(format!("{}…{}", key.prefix, key.last_four));
    Act::new(action).on(target).with("mode", key.mode.as_str()).with("name", key.name.as_str())
}

/// 403 while a go-live item is open (SPECIFICATION §3.2); 503 when that cannot be told.
async fn require_unlocked(app: &App, business: BusinessId) -> Result<(), ApiError> {
    let read = app.database.read(async |conn| businesses::standing(conn, business).await).await;
    let standing = read.map_err(errors::store)?.ok_or_else(errors::business_not_found)?;
    if standing.missing().is_empty() {
        return Ok(());
    }
    let confirmed = confirm_go_live(app, standing).await.map_err(errors::store)?;
    if confirmed.is_undecided() {
        return Err(ApiError::unavailable());
    }
    match confirmed.standing.missing().as_slice() {
        [] => Ok(()),
        missing => Err(errors::live_api_locked(missing)),
    }
}

/// An id that is none can only be nobody's; and it must never become another path at the peer.
fn key_id(text: &str) -> Result<ApiKeyId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("api_key_not_found", "API key"))
}
