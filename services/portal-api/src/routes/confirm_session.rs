//! `POST /v1/portal/session/confirm` and `POST /v1/operator/session/confirm`: a logged-in person authenticates again.

use actix_web::http::header;
use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody};

use super::account_fields::{factor_code, password_text};
use super::audited::UserAuthor;
use super::caller::caller;
use super::errors;
use super::openapi::bodies;
use super::operator_second_factor::person_while_enrolling;
use super::session_cookie::{OPERATOR, PORTAL};
use crate::commands::confirm_session::{Confirmation, confirm_staff, confirm_user};
use crate::domain::{FactorCode, Password, Session};
use crate::state::State;

#[utoipa::path(
    post,
    path = "/v1/portal/session/confirm",
    operation_id = "confirmSession",
    tag = "Account",
    summary = "Confirm the session with the password, before a sensitive call",
    request_body = bodies::ConfirmSession,
    responses((status = 204, description = "The session counts as recently authenticated. A new cookie carries it.")),
)]
pub(super) async fn portal(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (password, code) = parse(&body.0)?;
    let token = PORTAL.read(&state, &request).ok_or_else(errors::not_logged_in)?;
    let caller = caller(&state, &request);
    let confirmation = Confirmation { password, code, token, caller, author: author.0 };
    let renewed = confirm_user(&state, &session, &confirmation).await.map_err(errors::confirm)?;
    let mut response = HttpResponse::NoContent();
    if let Some(token) = renewed {
        response.cookie(PORTAL.set(&state, &token, session.expires_at));
    }
    Ok(response.finish())
}

#[utoipa::path(
    post,
    path = "/v1/operator/session/confirm",
    operation_id = "confirmOperatorSession",
    tag = "Operator",
    summary = "Confirm the console session with the password, before a sensitive call",
    request_body = bodies::ConfirmSession,
    responses((status = 204, description = "The session counts as recently authenticated. A new cookie carries it.")),
)]
pub(super) async fn operator(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let person = person_while_enrolling(&state, &request).await?;
    person.require_password(&state).await?;
    let (password, code) = parse(&body.0)?;
    let confirmation = Confirmation {
        password,
        code,
        token: person.token,
        caller: caller(&state, &request),
        author: person.author,
    };
    let renewed = confirm_staff(&state, &person.holder, &confirmation).await.map_err(errors::confirm)?;
    let mut response = HttpResponse::NoContent();
    if let Some(token) = renewed {
        response.cookie(OPERATOR.set(&state, &token, person.expires_at));
    }
    Ok(response.insert_header((header::CACHE_CONTROL, "no-store")).finish())
}

fn parse(body: &Value) -> Result<(Password, Option<FactorCode>), ApiError> {
    let field_errors = FieldErrors::default();
    let parsed = Fields::only(body, &field_errors, &["password", "code"]).and_then(|fields| {
        let password = password_text(&fields, "password").map(Password::entered);
        let code = fields.value("code").and_then(|_| factor_code(&fields));
        Some((password?, code))
    });
    match parsed {
        Some(parsed) if field_errors.is_empty() => Ok(parsed),
        _ => Err(ApiError::invalid(field_errors)),
    }
}
