//! `POST /v1/portal/session/second-factor` and `POST /v1/operator/session/second-factor`: the code, or a passkey, completes the
//! log-in.

use actix_web::http::header;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use identity::second_factors::{FactorAnswer, OpenedChallenge};
use identity::{Realm, SecretToken};
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, read_body};

use crate::account::commands::second_step::{self, SecondStep};
use crate::account::commands::use_passkey;
use crate::account::routes::account_fields::{factor_code, passkey_instead_of};
use crate::account::routes::opened::opened;
use crate::account::routes::passkeys::PasskeyOptionsView;
use crate::account::routes::session_views::{OperatorSessionView, SessionView};
use crate::http::audited::visitor;
use crate::http::openapi::bodies;
use crate::http::{errors, session_cookie};
use crate::state::State;

/// A log-in that waits for the second factor.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChallengeView {
    /// Always true.
    mfa_required: bool,
    expires_at: DateTime<Utc>,
    /// The origin whose pages can use a passkey instead of the code. `null` if the account has no passkey.
    passkey_origin: Option<String>,
}

/// The response to the right password of an account with a second factor. Its cookie grants nothing else.
pub(crate) fn challenge(state: &State, realm: Realm, opened: &OpenedChallenge) -> HttpResponse {
    HttpResponse::Accepted()
        .cookie(session_cookie::of_challenge(realm).set(state, &opened.token, opened.expires_at))
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
pub(crate) async fn portal(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    complete(&state, Realm::User, &request, &body.0).await
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
pub(crate) async fn operator(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    complete(&state, Realm::Staff, &request, &body.0).await
}

async fn complete(
    state: &State,
    realm: Realm,
    request: &HttpRequest,
    body: &Value,
) -> Result<HttpResponse, ApiError> {
    let (answer, token) = (parse(body)?, token(state, realm, request)?);
    let step = SecondStep { token, answer, visitor: visitor(state, request, realm) };
    let session = second_step::second_step(state, step).await.map_err(errors::challenge)?;
    let mut response = HttpResponse::Ok();
    response.cookie(session_cookie::of_challenge(realm).clear(state));
    opened(state, realm, &mut response, &session).await
}

fn token(state: &State, realm: Realm, request: &HttpRequest) -> Result<SecretToken, ApiError> {
    session_cookie::of_challenge(realm).read(state, request).ok_or_else(errors::challenge_ended)
}

#[utoipa::path(
    post,
    path = "/v1/portal/session/second-factor/passkey-options",
    operation_id = "startLogInWithPasskey",
    tag = "Account",
    summary = "Begin to complete a log-in with a passkey",
    responses((status = 200, description = "A challenge. It is valid for five minutes, and once.", body = PasskeyOptionsView)),
)]
pub(crate) async fn portal_options(
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    options(&state, Realm::User, &request).await
}

#[utoipa::path(
    post,
    path = "/v1/operator/session/second-factor/passkey-options",
    operation_id = "openOperatorSessionWithPasskey",
    tag = "Operator",
    summary = "Begin to complete a log-in to the console with a passkey",
    responses((status = 200, description = "A challenge. It is valid for five minutes, and once.", body = PasskeyOptionsView)),
)]
pub(crate) async fn operator_options(
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    options(&state, Realm::Staff, &request).await
}

async fn options(state: &State, realm: Realm, request: &HttpRequest) -> Result<HttpResponse, ApiError> {
    let token = token(state, realm, request)?;
    let options = use_passkey::start_log_in(state, realm, &token).await.map_err(errors::challenge)?;
    Ok(PasskeyOptionsView::respond(options))
}

fn parse(body: &Value) -> Result<FactorAnswer, ApiError> {
    read_body(body, &["code", "passkey"], |fields| match fields.value("passkey") {
        Some(_) => passkey_instead_of(fields, &["code"]),
        None => factor_code(fields).map(FactorAnswer::Code),
    })
}
