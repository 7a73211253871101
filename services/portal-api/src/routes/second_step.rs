//! `POST /v1/portal/session/second-factor` and `POST /v1/operator/session/second-factor`: the code, or a passkey, completes the
//! log-in.

use actix_web::http::header;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, read_body};

use super::account_fields::{factor_code, passkey_instead_of};
use super::audited::{browser, request_id};
use super::caller::{caller, console_caller};
use super::openapi::bodies;
use super::operator_session::{OperatorSessionView, opened_console};
use super::passkeys::PasskeyOptionsView;
use super::session::SessionView;
use super::session_cookie::{OPERATOR, OPERATOR_CHALLENGE, PORTAL, PORTAL_CHALLENGE, SessionCookie};
use super::{browser_cookie, errors};
use crate::commands::OpenedChallenge;
use crate::commands::second_step::{self, SecondStep};
use crate::commands::staff_second_step::{self, StaffSecondStep};
use crate::commands::use_passkey::{self, FactorAnswer};
use crate::domain::{Account, SecretToken};
use crate::state::State;

/// A log-in that waits for the second factor.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChallengeView {
    /// Always true.
    mfa_required: bool,
    expires_at: DateTime<Utc>,
    /// The origin whose pages can use a passkey instead of the code. `null` if the account has no passkey.
    passkey_origin: Option<String>,
}

/// The response to the right password of an account with a second factor. Its cookie grants nothing else.
pub(super) fn challenge(state: &State, cookie: &SessionCookie, opened: &OpenedChallenge) -> HttpResponse {
    HttpResponse::Accepted()
        .cookie(cookie.set(state, &opened.token, opened.expires_at))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(ChallengeView {
            mfa_required: true,
            expires_at: opened.expires_at,
            passkey_origin: opened.passkey_origin.clone(),
        })
}

#[utoipa::path(
    post,
    path = "/v1/portal/session/second-factor",
    operation_id = "logInWithSecondFactor",
    tag = "Account",
    summary = "Complete a log-in with the code of the second factor, or with a passkey",
    request_body = bodies::SecondStep,
    responses((status = 200, description = "The session. A cookie carries it.", body = SessionView)),
)]
pub(super) async fn portal(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let answer = parse(&body.0)?;
    let token = PORTAL_CHALLENGE.read(&state, &request).ok_or_else(errors::challenge_ended)?;
    let caller = caller(&state, &request);
    let (browser, request) = (browser(&state, &request, &PORTAL), request_id(&request));
    let step = SecondStep { token, answer, caller, browser, request };
    let opened = second_step::second_step(&state, step).await.map_err(errors::challenge)?;
    Ok(HttpResponse::Ok()
        .cookie(PORTAL.set(&state, &opened.token, opened.session.expires_at))
        .cookie(PORTAL_CHALLENGE.clear(&state))
        .cookie(browser_cookie::PORTAL.set(&state, &opened.browser))
        .json(SessionView::of(&opened.session)))
}

#[utoipa::path(
    post,
    path = "/v1/operator/session/second-factor",
    operation_id = "openOperatorSessionWithSecondFactor",
    tag = "Operator",
    summary = "Complete a log-in to the console with the code of the second factor, or with a passkey",
    request_body = bodies::SecondStep,
    responses((status = 200, description = "The session. A cookie carries it.", body = OperatorSessionView)),
)]
pub(super) async fn operator(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let answer = parse(&body.0)?;
    let token = OPERATOR_CHALLENGE.read(&state, &request).ok_or_else(errors::challenge_ended)?;
    let caller = console_caller(&state, &request);
    let (browser, request) = (browser(&state, &request, &OPERATOR), request_id(&request));
    let step = StaffSecondStep { token, answer, caller, browser, request };
    let opened = staff_second_step::second_step(&state, step).await.map_err(errors::challenge)?;
    let mut response = HttpResponse::Ok();
    response.cookie(OPERATOR_CHALLENGE.clear(&state));
    opened_console(&state, &mut response, &opened).await
}

#[utoipa::path(
    post,
    path = "/v1/portal/session/second-factor/passkey-options",
    operation_id = "startLogInWithPasskey",
    tag = "Account",
    summary = "Begin to complete a log-in with a passkey",
    responses((status = 200, description = "A challenge. It is valid for five minutes, and once.", body = PasskeyOptionsView)),
)]
pub(super) async fn portal_options(
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let token = PORTAL_CHALLENGE.read(&state, &request).ok_or_else(errors::challenge_ended)?;
    options(&state, &token, |account| matches!(account, Account::User(_))).await
}

#[utoipa::path(
    post,
    path = "/v1/operator/session/second-factor/passkey-options",
    operation_id = "openOperatorSessionWithPasskey",
    tag = "Operator",
    summary = "Begin to complete a log-in to the console with a passkey",
    responses((status = 200, description = "A challenge. It is valid for five minutes, and once.", body = PasskeyOptionsView)),
)]
pub(super) async fn operator_options(
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let token = OPERATOR_CHALLENGE.read(&state, &request).ok_or_else(errors::challenge_ended)?;
    options(&state, &token, |account| matches!(account, Account::Staff(_))).await
}

async fn options(
    state: &State,
    token: &SecretToken,
    is_of_part: fn(Account) -> bool,
) -> Result<HttpResponse, ApiError> {
    let options = use_passkey::start_log_in(state, token, is_of_part).await.map_err(errors::challenge)?;
    Ok(PasskeyOptionsView::respond(options))
}

fn parse(body: &Value) -> Result<FactorAnswer, ApiError> {
    read_body(body, &["code", "passkey"], |fields| match fields.value("passkey") {
        Some(_) => passkey_instead_of(fields, &["code"]),
        None => factor_code(fields).map(FactorAnswer::Code),
    })
}
