//! `POST`, `GET`, `DELETE /v1/operator/session`: the operator's console logs in, looks, logs out.

use actix_web::http::header;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody, TextRule, same_secret};

use super::errors;
use super::openapi::bodies;
use super::session_cookie::OPERATOR;
use crate::app::App;
use crate::commands::operator_session;

/// Longer than any token in use.
const TOKEN_TEXT: TextRule = TextRule::line(1_024);

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct OperatorSessionView {
    expires_at: DateTime<Utc>,
}

#[utoipa::path(
    post,
    path = "/v1/operator/session",
    operation_id = "openOperatorSession",
    tag = "Operator",
    summary = "Log in to the operator's console with the operator's token",
    request_body = bodies::OperatorLogIn,
    responses((status = 200, description = "When the session ends, which a cookie carries.", body = OperatorSessionView)),
)]
pub(super) async fn open(
    app: Data<App>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let given = parse(&body.0)?;
    if !same_secret(&given, &app.operator_token) {
        return Err(app.failures.count(&request, errors::operator_token_invalid()));
    }
    let opened = operator_session::open(&app, OPERATOR.read(&app, &request)).await.map_err(errors::store)?;
    let cookie = OPERATOR.carry(&app, &opened.token, opened.expires_at);
    Ok(HttpResponse::Ok()
        .cookie(cookie)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(OperatorSessionView { expires_at: opened.expires_at }))
}

#[utoipa::path(
    get,
    path = "/v1/operator/session",
    operation_id = "readOperatorSession",
    tag = "Operator",
    summary = "Whether the operator is logged in",
    responses((status = 200, description = "When the session ends.", body = OperatorSessionView)),
)]
pub(super) async fn look(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let expires_at = open_until(&app, &request).await?.ok_or_else(errors::not_logged_in)?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(OperatorSessionView { expires_at }))
}

/// Also for somebody who is not logged in any more: what they want is so already.
#[utoipa::path(
    delete,
    path = "/v1/operator/session",
    operation_id = "closeOperatorSession",
    tag = "Operator",
    summary = "Log out of the operator's console",
    responses((status = 204, description = "Logged out.")),
)]
pub(super) async fn close(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    if let Some(token) = OPERATOR.read(&app, &request) {
        operator_session::close(&app, &token).await.map_err(errors::store)?;
    }
    let forgotten = OPERATOR.forget(&app);
    Ok(HttpResponse::NoContent().cookie(forgotten).finish())
}

/// When the operator's session of this request ends, if it has one that has not ended.
pub(super) async fn open_until(app: &App, request: &HttpRequest) -> Result<Option<DateTime<Utc>>, ApiError> {
    match OPERATOR.read(app, request) {
        Some(token) => operator_session::find(app, &token).await.map_err(errors::store),
        None => Ok(None),
    }
}

fn parse(body: &Value) -> Result<String, ApiError> {
    let field_errors = FieldErrors::default();
    let token =
        Fields::of_body(body, &field_errors).and_then(|fields| fields.required_text("token", TOKEN_TEXT));
    match token {
        Some(token) if field_errors.is_empty() => Ok(token),
        _ => Err(ApiError::invalid(field_errors)),
    }
}
