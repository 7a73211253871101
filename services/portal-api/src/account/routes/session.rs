//! `POST`, `GET`, `DELETE /v1/portal/session`: log in, read the session, log out.

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::Email;
use identity::Realm;
use identity::passwords::Password;
use serde_json::Value;
use web::{ApiError, JsonBody, read_body};

use crate::account;
use crate::account::commands::log_in::{self, LogIn, LogInOutcome};
use crate::account::commands::log_out::log_out as end_session;
use crate::account::routes::account_fields::{email, password_text};
use crate::account::routes::opened::opened;
use crate::account::routes::second_step::{self, ChallengeView};
use crate::account::routes::session_views::{LoggedOutView, SessionView};
use crate::domain::Session;
use crate::http::audited::{request_id, visitor};
use crate::http::caller::address;
use crate::http::openapi::bodies;
use crate::http::{errors, session_cookie};
use crate::state::State;

#[utoipa::path(
    post,
    path = "/v1/portal/session",
    operation_id = "logIn",
    tag = "Account",
    summary = "Log in",
    request_body = bodies::LogIn,
    responses(
        (status = 200, description = "The session. A cookie carries it.", body = SessionView),
        (status = 202, description = "The account has a second factor. Send its code with the cookie of this response.", body = ChallengeView),
    ),
)]
pub(crate) async fn log_in(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (email, password) = parse(&body.0)?;
    log_in_with_password(&state, Realm::User, &request, email, password).await
}

/// In either realm.
pub(crate) async fn log_in_with_password(
    state: &Data<State>,
    realm: Realm,
    request: &HttpRequest,
    email: Email,
    password: Password,
) -> Result<HttpResponse, ApiError> {
    let log_in = LogIn { email, password, visitor: visitor(state, request, realm) };
    match log_in::log_in(state, log_in).await.map_err(errors::log_in)? {
        LogInOutcome::Session(session) => opened(state, realm, &mut HttpResponse::Ok(), &session).await,
        LogInOutcome::Challenge(challenge) => Ok(second_step::challenge(state, realm, &challenge)),
    }
}

#[utoipa::path(
    get,
    path = "/v1/portal/session",
    operation_id = "whoAmI",
    tag = "Account",
    summary = "Read the session",
    responses((status = 200, description = "The session.", body = SessionView)),
)]
pub(crate) async fn who_am_i(
    state: Data<State>,
    session: ReqData<Session>,
) -> Result<HttpResponse, ApiError> {
    let memberships = account::queries::memberships::of_session(&state, &session).await?;
    Ok(HttpResponse::Ok().json(SessionView::of(&session).with(memberships)))
}

/// Succeeds without a session too.
#[utoipa::path(
    delete,
    path = "/v1/portal/session",
    operation_id = "logOut",
    tag = "Account",
    summary = "Log out",
    responses(
        (status = 200, description = "Logged out here, and not yet at the identity provider.", body = LoggedOutView),
        (status = 204, description = "Logged out."),
    ),
)]
pub(crate) async fn log_out(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    if let Some(token) = session_cookie::PORTAL.read(&state, &request) {
        let from = (request_id(&request), address(&state, &request));
        if let Some(url) = end_session(&state, &token, from).await? {
            let view = LoggedOutView { log_out_url: url.into() };
            return Ok(HttpResponse::Ok().cookie(session_cookie::PORTAL.clear(&state)).json(view));
        }
    }
    Ok(HttpResponse::NoContent().cookie(session_cookie::PORTAL.clear(&state)).finish())
}

fn parse(body: &Value) -> Result<(Email, Password), ApiError> {
    read_body(body, &["email", "password"], |fields| {
        let (email, password) = (email(fields), password_text(fields, "password"));
        Some((email?, Password::entered(password?)))
    })
}
