//! `POST`, `GET`, `DELETE /v1/operator/session`: log in to the operator's console, check the session, log out.

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
use crate::commands::operator_session;
use crate::state::State;

/// Longer than any operator token.
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
    summary = "Log in to the console with the operator's token",
    request_body = bodies::OperatorLogIn,
    responses((status = 200, description = "When the session ends. A cookie carries the session.", body = OperatorSessionView)),
)]
pub(super) async fn open(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let given = parse(&body.0)?;
    if !same_secret(&given, &state.operator_token) {
        return Err(state.failure_limits.count(&request, errors::operator_token_invalid()));
    }
    let opened = operator_session::open(&state, OPERATOR.read(&state, &request)).await?;
    let cookie = OPERATOR.set(&state, &opened.token, opened.expires_at);
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
pub(super) async fn read(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let expires_at = session_end(&state, &request).await?.ok_or_else(errors::not_logged_in)?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(OperatorSessionView { expires_at }))
}

/// Succeeds without a session too.
#[utoipa::path(
    delete,
    path = "/v1/operator/session",
    operation_id = "closeOperatorSession",
    tag = "Operator",
    summary = "Log out of the console",
    responses((status = 204, description = "Logged out.")),
)]
pub(super) async fn close(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    if let Some(token) = OPERATOR.read(&state, &request) {
        operator_session::close(&state, &token).await?;
    }
    Ok(HttpResponse::NoContent().cookie(OPERATOR.clear(&state)).finish())
}

/// When the operator's session of this request ends; `None` without an open session.
pub(super) async fn session_end(
    state: &State,
    request: &HttpRequest,
) -> Result<Option<DateTime<Utc>>, ApiError> {
    match OPERATOR.read(state, request) {
        Some(token) => Ok(operator_session::find(state, &token).await?),
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
