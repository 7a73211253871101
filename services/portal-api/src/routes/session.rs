//! `POST`, `GET`, `DELETE /v1/portal/session`: log in, who am I, log out.

use actix_web::http::header;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{BusinessId, UserId};
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody};

use super::accounts::{email, password_text};
use super::address::origin;
use super::author::{browser, request_id};
use super::guard::{self, InUse};
use super::openapi::bodies;
use super::{browser_cookie, errors, session_cookie};
use crate::app::App;
use crate::commands::log_in::{self, LogIn};
use crate::commands::log_out;
use crate::domain::{Email, Password, Role, Session};

/// Somebody who is logged in, as they see it.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionView<'a> {
    business_id: BusinessId,
    business_name: &'a str,
    user_id: UserId,
    email: &'a str,
    role: Role,
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
}

impl<'a> SessionView<'a> {
    pub(super) fn of(session: &'a Session) -> Self {
        Self {
            business_id: session.business,
            business_name: &session.business_name,
            user_id: session.user,
            email: &session.email,
            role: session.role,
            created_at: session.created_at,
            expires_at: session.expires_at,
        }
    }
}

#[utoipa::path(
    post,
    path = "/v1/portal/session",
    operation_id = "logIn",
    tag = "Account",
    summary = "Log in",
    request_body = bodies::LogIn,
    responses((status = 200, description = "The session, which the cookie carries.", body = SessionView)),
)]
pub(super) async fn log_in(
    app: Data<App>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (email, password) = parse(&body.0)?;
    let origin = origin(&app, &request);
    let (browser, request) = (browser(&app, &request), request_id(&request));
    let wanted = LogIn { email, password, origin, browser, request };
    let opened = log_in::log_in(&app, wanted).await.map_err(errors::log_in)?;
    Ok(HttpResponse::Ok()
        .cookie(session_cookie::PORTAL.carry(&app, &opened.token, opened.session.expires_at))
        .cookie(browser_cookie::carry(&app, &opened.browser))
        .json(SessionView::of(&opened.session)))
}

#[utoipa::path(
    get,
    path = "/v1/portal/session",
    operation_id = "whoAmI",
    tag = "Account",
    summary = "Who is logged in",
    responses((status = 200, description = "The session.", body = SessionView)),
)]
pub(super) async fn who_am_i(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let InUse { session, renewed } =
        guard::open_session(&app, &request).await?.ok_or_else(errors::not_logged_in)?;
    let mut answer = HttpResponse::Ok();
    if let Some(cookie) = renewed {
        answer.cookie(cookie);
    }
    Ok(answer.insert_header((header::CACHE_CONTROL, "no-store")).json(SessionView::of(&session)))
}

/// Also for somebody who is not logged in any more: what they want is so already.
#[utoipa::path(
    delete,
    path = "/v1/portal/session",
    operation_id = "logOut",
    tag = "Account",
    summary = "Log out",
    responses((status = 204, description = "Nobody is logged in any more.")),
)]
pub(super) async fn log_out(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    if let Some(token) = session_cookie::PORTAL.read(&app, &request) {
        log_out::log_out(&app, &token, request_id(&request)).await.map_err(errors::store)?;
    }
    Ok(HttpResponse::NoContent().cookie(session_cookie::PORTAL.forget(&app)).finish())
}

fn parse(body: &Value) -> Result<(Email, Password), ApiError> {
    let field_errors = FieldErrors::default();
    let parsed = Fields::of_body(body, &field_errors).and_then(|fields| {
        let (email, password) = (email(&fields), password_text(&fields, "password"));
        Some((email?, Password::typed(password?)))
    });
    match parsed {
        Some(parsed) if field_errors.is_empty() => Ok(parsed),
        _ => Err(ApiError::invalid(field_errors)),
    }
}
