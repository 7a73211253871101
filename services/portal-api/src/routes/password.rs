//! `PUT /v1/portal/password`: somebody changes their own password.

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody};

use super::accounts::{chosen_password, password_text};
use super::address::origin;
use super::author::{ByUser, browser};
use super::openapi::bodies;
use super::{browser_cookie, errors, session_cookie};
use crate::app::App;
use crate::commands::change_password::{ChangePassword, change_password};
use crate::domain::{Email, Password, Session};

/// All sessions of the user end; this browser gets a new one.
#[utoipa::path(
    put,
    path = "/v1/portal/password",
    operation_id = "changePassword",
    tag = "Account",
    summary = "Change the own password; every other session ends",
    request_body = bodies::ChangePassword,
    responses((status = 204, description = "Changed; a new cookie carries the session.")),
)]
pub(super) async fn change(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (current, new) = parse(&body.0, &session)?;
    let (origin, browser) = (origin(&app, &request), browser(&app, &request));
    let wanted = ChangePassword { current, new, origin, browser };
    let opened = change_password(&app, &session, &author.0, wanted).await.map_err(errors::change_password)?;
    Ok(HttpResponse::NoContent()
        .cookie(session_cookie::PORTAL.carry(&app, &opened.token, opened.session.expires_at))
        .cookie(browser_cookie::carry(&app, &opened.browser))
        .finish())
}

fn parse(body: &Value, session: &Session) -> Result<(Password, Password), ApiError> {
    let email = Email::parse(&session.email);
    let field_errors = FieldErrors::default();
    let parsed = Fields::of_body(body, &field_errors).and_then(|fields| {
        let current = password_text(&fields, "currentPassword").map(Password::typed);
        let new = chosen_password(&fields, "newPassword", email.as_ref());
        let (current, new) = (current?, new?);
        if current.as_bytes() == new.as_bytes() {
            fields.reject("newPassword", "unchanged", "newPassword is the current one. Choose another one.");
            return None;
        }
        Some((current, new))
    });
    match parsed {
        Some(parsed) if field_errors.is_empty() => Ok(parsed),
        _ => Err(ApiError::invalid(field_errors)),
    }
}
