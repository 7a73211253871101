//! `POST /v1/portal/session/confirm` and `POST /v1/operator/session/confirm`: a logged-in person authenticates again.

use actix_web::HttpResponse;
use actix_web::web::Data;
use identity::passkeys::CeremonyPurpose;
use identity::passwords::Password;
use identity::second_factors::FactorAnswer;
use serde_json::Value;
use web::{ApiError, JsonBody, read_body};

use crate::account::commands::confirm_session::{self, Evidence};
use crate::account::commands::{OwnAccount, use_passkey};
use crate::account::routes::account_fields::{factor_code, passkey_instead_of, password_text};
use crate::account::routes::passkeys::PasskeyOptionsView;
use crate::http::openapi::bodies;
use crate::http::{errors, session_cookie};
use crate::state::State;

#[utoipa::path(
    post,
    path = "/v1/portal/session/confirm",
    operation_id = "confirmSession",
    tag = "Account",
    summary = "Confirm the session with the password or a passkey, before a sensitive call",
    request_body = bodies::ConfirmSession,
    responses((status = 204, description = "The session counts as recently authenticated. A new cookie carries it.")),
)]
pub(crate) async fn confirm(
    state: Data<State>,
    own: OwnAccount,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let evidence = parse(&body.0)?;
    let token = confirm_session::confirm(&state, &own, &evidence).await.map_err(errors::confirm)?;
    let cookie = session_cookie::of(own.holder.account.realm());
    Ok(HttpResponse::NoContent().cookie(cookie.set(&state, &token, own.expires_at)).finish())
}

#[utoipa::path(
    post,
    path = "/v1/portal/session/confirm/passkey-options",
    operation_id = "startConfirmationWithPasskey",
    tag = "Account",
    summary = "Begin to confirm the session with a passkey",
    responses((status = 200, description = "A challenge. It is valid for five minutes, and once.", body = PasskeyOptionsView)),
)]
pub(crate) async fn options(state: Data<State>, own: OwnAccount) -> Result<HttpResponse, ApiError> {
    let key = own.ceremony(CeremonyPurpose::Confirm);
    let options = use_passkey::start(&state, own.holder.account, key).await.map_err(errors::factor)?;
    Ok(PasskeyOptionsView::respond(options))
}

fn parse(body: &Value) -> Result<Evidence, ApiError> {
    read_body(body, &["password", "code", "passkey"], |fields| {
        if fields.value("passkey").is_some() {
            return passkey_instead_of(fields, &["password", "code"]).map(Evidence::Passkey);
        }
        let password = password_text(fields, "password").map(Password::entered);
        let code = fields.value("code").and_then(|_| factor_code(fields)).map(FactorAnswer::Code);
        Some(Evidence::Password { password: password?, code })
    })
}
