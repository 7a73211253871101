//! `POST /v1/portal/session/confirm` and `POST /v1/operator/session/confirm`: a logged-in person authenticates again.

use actix_web::http::header;
use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody};

use super::account_fields::{factor_code, password_text};
use super::caller::caller;
use super::errors;
use super::openapi::bodies;
use super::operator_second_factor::person;
use crate::commands::Caller;
use crate::commands::confirm_session::{Confirmation, confirm_staff, confirm_user};
use crate::domain::{Password, Session};
use crate::state::State;

#[utoipa::path(
    post,
    path = "/v1/portal/session/confirm",
    operation_id = "confirmSession",
    tag = "Account",
    summary = "Confirm the session with the password, before a sensitive call",
    request_body = bodies::ConfirmSession,
    responses((status = 204, description = "The session counts as recently authenticated.")),
)]
pub(super) async fn portal(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let confirmation = parse(&body.0, caller(&state, &request))?;
    confirm_user(&state, &session, &confirmation).await.map_err(errors::confirm)?;
    Ok(HttpResponse::NoContent().finish())
}

#[utoipa::path(
    post,
    path = "/v1/operator/session/confirm",
    operation_id = "confirmOperatorSession",
    tag = "Operator",
    summary = "Confirm the console session with the password, before a sensitive call",
    request_body = bodies::ConfirmSession,
    responses((status = 204, description = "The session counts as recently authenticated.")),
)]
pub(super) async fn operator(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let person = person(&state, &request).await?;
    person.require_password(&state).await?;
    let confirmation = parse(&body.0, caller(&state, &request))?;
    confirm_staff(&state, &person.holder, &person.token, &confirmation).await.map_err(errors::confirm)?;
    Ok(HttpResponse::NoContent().insert_header((header::CACHE_CONTROL, "no-store")).finish())
}

fn parse(body: &Value, caller: Caller) -> Result<Confirmation, ApiError> {
    let field_errors = FieldErrors::default();
    let parsed = Fields::of_body(body, &field_errors).and_then(|fields| {
        let password = password_text(&fields, "password").map(Password::entered);
        let code = fields.value("code").and_then(|_| factor_code(&fields));
        Some(Confirmation { password: password?, code, caller })
    });
    match parsed {
        Some(parsed) if field_errors.is_empty() => Ok(parsed),
        _ => Err(ApiError::invalid(field_errors)),
    }
}
