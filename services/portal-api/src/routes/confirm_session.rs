//! `POST /v1/portal/session/confirm` and `POST /v1/operator/session/confirm`: a logged-in person authenticates again.

use std::rc::Rc;

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use web::{ApiError, JsonBody, read_body};

use super::account_fields::{factor_code, passkey_instead_of, password_text};
use super::audited::UserAuthor;
use super::caller::caller;
use super::errors;
use super::openapi::bodies;
use super::operator_caller::Person;
use super::passkeys::PasskeyOptionsView;
use super::session_cookie::{OPERATOR, PORTAL};
use crate::commands::Holder;
use crate::commands::confirm_session::{Confirmation, Evidence, confirm};
use crate::commands::use_passkey::{self, FactorAnswer};
use crate::domain::{CeremonyKey, CeremonyPurpose, Password, Session};
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
pub(super) async fn portal(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let evidence = parse(&body.0)?;
    let token = PORTAL.read(&state, &request).ok_or_else(errors::not_logged_in)?;
    let caller = caller(&state, &request);
    let ceremony = CeremonyKey::new(CeremonyPurpose::Confirm, session.id.to_string());
    let confirmation = Confirmation { evidence, ceremony, token, caller, author: author.0 };
    let token = confirm(&state, &Holder::of(&session), &confirmation).await.map_err(errors::confirm)?;
    Ok(HttpResponse::NoContent().cookie(PORTAL.set(&state, &token, session.expires_at)).finish())
}

#[utoipa::path(
    post,
    path = "/v1/operator/session/confirm",
    operation_id = "confirmOperatorSession",
    tag = "Operator",
    summary = "Confirm the console session with the password or a passkey, before a sensitive call",
    request_body = bodies::ConfirmSession,
    responses((status = 204, description = "The session counts as recently authenticated. A new cookie carries it.")),
)]
pub(super) async fn operator(
    state: Data<State>,
    person: ReqData<Rc<Person>>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let evidence = parse(&body.0)?;
    let confirmation = Confirmation {
        evidence,
        ceremony: person.ceremony(CeremonyPurpose::Confirm),
        token: person.token.clone(),
        caller: caller(&state, &request),
        author: person.author.clone(),
    };
    let token = confirm(&state, &person.holder, &confirmation).await.map_err(errors::confirm)?;
    Ok(HttpResponse::NoContent().cookie(OPERATOR.set(&state, &token, person.expires_at)).finish())
}

#[utoipa::path(
    post,
    path = "/v1/portal/session/confirm/passkey-options",
    operation_id = "startConfirmationWithPasskey",
    tag = "Account",
    summary = "Begin to confirm the session with a passkey",
    responses((status = 200, description = "A challenge. It is valid for five minutes, and once.", body = PasskeyOptionsView)),
)]
pub(super) async fn portal_options(
    state: Data<State>,
    session: ReqData<Session>,
) -> Result<HttpResponse, ApiError> {
    let key = CeremonyKey::new(CeremonyPurpose::Confirm, session.id.to_string());
    let account = Holder::of(&session).account;
    let options = use_passkey::start(&state, account, key).await.map_err(errors::factor)?;
    Ok(PasskeyOptionsView::respond(options))
}

#[utoipa::path(
    post,
    path = "/v1/operator/session/confirm/passkey-options",
    operation_id = "startOperatorConfirmationWithPasskey",
    tag = "Operator",
    summary = "Begin to confirm the console session with a passkey",
    responses((status = 200, description = "A challenge. It is valid for five minutes, and once.", body = PasskeyOptionsView)),
)]
pub(super) async fn operator_options(
    state: Data<State>,
    person: ReqData<Rc<Person>>,
) -> Result<HttpResponse, ApiError> {
    let key = person.ceremony(CeremonyPurpose::Confirm);
    let options = use_passkey::start(&state, person.holder.account, key).await.map_err(errors::factor)?;
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
