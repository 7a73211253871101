//! `PUT /v1/portal/password` and `PUT /v1/operator/password`: a person changes their own password.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use domain::Email;
use identity::passwords::Password;
use serde_json::Value;
use web::{ApiError, JsonBody, read_body};

use crate::account::commands::OwnAccount;
use crate::account::commands::change_password::{ChangePassword, change_password};
use crate::account::routes::account_fields::{new_password, password_text};
use crate::account::routes::opened::set_cookies;
use crate::http::audited::browser;
use crate::http::errors;
use crate::http::openapi::bodies;
use crate::state::State;

/// All sessions of the person end, and this browser gets a new one.
#[utoipa::path(
    put,
    path = "/v1/portal/password",
    operation_id = "changePassword",
    tag = "Account",
    summary = "Change the own password. All other sessions end",
    request_body = bodies::ChangePassword,
    responses((status = 204, description = "The password is changed. A new cookie carries the session.")),
)]
pub(crate) async fn change(
    state: Data<State>,
    own: OwnAccount,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let realm = own.holder.account.realm();
    let (current, new) = parse(&body.0, Email::parse(&own.holder.email).as_ref())?;
    let change = ChangePassword { current, new, browser: browser(&state, &request, realm) };
    let opened = change_password(&state, &own, &change).await.map_err(errors::change_password)?;
    let mut response = HttpResponse::NoContent();
    set_cookies(&state, realm, &mut response, &opened);
    Ok(response.finish())
}

fn parse(body: &Value, email: Option<&Email>) -> Result<(Password, Password), ApiError> {
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
