//! `PUT /v1/portal/password`: a user changes their own password.

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use web::{ApiError, JsonBody, read_body};

use super::account_fields::{new_password, password_text};
use super::audited::{UserAuthor, browser};
use super::caller::caller;
use super::openapi::bodies;
use super::{browser_cookie, errors, session_cookie};
use crate::commands::change_password::{ChangePassword, change_password};
use crate::domain::{Email, Password, Session};
use crate::state::State;

/// All sessions of the user end, and this browser gets a new one.
#[utoipa::path(
    put,
    path = "/v1/portal/password",
    operation_id = "changePassword",
    tag = "Account",
    summary = "Change the own password. All other sessions end",
    request_body = bodies::ChangePassword,
    responses((status = 204, description = "The password is changed. A new cookie carries the session.")),
)]
pub(super) async fn change(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (current, new) = parse(&body.0, Email::parse(&session.email).as_ref())?;
    let (caller, browser) = (caller(&state, &request), browser(&state, &request, &session_cookie::PORTAL));
    let change = ChangePassword { current, new, caller, browser };
    let opened =
        change_password(&state, &session, &author.0, change).await.map_err(errors::change_password)?;
    Ok(HttpResponse::NoContent()
        .cookie(session_cookie::PORTAL.set(&state, &opened.token, opened.session.expires_at))
        .cookie(browser_cookie::PORTAL.set(&state, &opened.browser))
        .finish())
}

pub(super) fn parse(body: &Value, email: Option<&Email>) -> Result<(Password, Password), ApiError> {
    read_body(body, &["currentPassword", "newPassword"], |fields| {
        let current = password_text(fields, "currentPassword").map(Password::entered);
        let new = new_password(fields, "newPassword", email);
        let (current, new) = (current?, new?);
        if current.as_bytes() == new.as_bytes() {
            fields.reject(
                "newPassword",
                "unchanged",
                "newPassword is the current password. Choose another one.",
            );
            return None;
        }
        Some((current, new))
    })
}
