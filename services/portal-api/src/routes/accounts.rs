//! `POST /v1/portal/accounts`: a business signs up.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use web::{ApiError, FaultList, Fields, JsonBody, TextRule};

use super::address::counted_address;
use super::author::{browser, request_id};
use super::openapi::bodies;
use super::session::SessionView;
use super::{errors, session_cookie};
use crate::app::App;
use crate::commands::sign_up::{self, SignUp};
use crate::domain::{Email, Password};

#[utoipa::path(
    post,
    path = "/v1/portal/accounts",
    operation_id = "signUp",
    tag = "Account",
    summary = "Open an account for a business, and a session",
    request_body = bodies::SignUp,
    responses((status = 201, description = "The session, which the cookie carries.", body = SessionView)),
)]
pub(super) async fn sign_up(
    app: Data<App>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (business_name, email, password) = parse(&body.0)?;
    let address = counted_address(&app, &request);
    let (browser, request) = (browser(&app, &request), request_id(&request));
    let wanted = SignUp { business_name, email, password, address, browser, request };
    let opened = sign_up::sign_up(&app, wanted).await.map_err(errors::sign_up)?;
    Ok(HttpResponse::Created()
        .cookie(session_cookie::PORTAL.carry(&app, &opened.token))
        .json(SessionView::of(&opened.session)))
}

fn parse(body: &Value) -> Result<(String, Email, Password), ApiError> {
    let faults = FaultList::default();
    let parsed = Fields::of_body(body, &faults).and_then(|fields| {
        let business_name = fields.required_text("businessName", TextRule::line(120));
        let email = email(&fields);
        let password = chosen_password(&fields, "password");
        Some((business_name?, email?, password?))
    });
    match parsed {
        Some(parsed) if faults.is_empty() => Ok(parsed),
        _ => Err(ApiError::invalid(faults)),
    }
}

/// The e-mail of an account.
pub(super) fn email(fields: &Fields<'_>) -> Option<Email> {
    let text = fields.required_text("email", TextRule::line(320))?;
    let email = Email::parse(&text);
    if email.is_none() {
        fields.fault("email", "invalid_format", "email must be an e-mail address, such as you@shop.example.");
    }
    email
}

/// A password's text exactly as it is: spaces at its ends belong to it.
pub(super) fn password_text<'a>(fields: &Fields<'a>, name: &str) -> Option<&'a str> {
    match fields.value(name) {
        None => fields.missing(name),
        Some(Value::String(text)) if text.is_empty() => fields.missing(name),
        Some(Value::String(text)) => Some(text),
        Some(_) => {
            fields.fault(name, "invalid_type", format!("{name} must be a string."));
            None
        }
    }
}

/// A password that is to be somebody's from now on.
pub(super) fn chosen_password(fields: &Fields<'_>, name: &str) -> Option<Password> {
    let text = password_text(fields, name)?;
    let password = Password::choose(text);
    if password.is_none() {
        let (min, max) = (Password::MIN, Password::MAX);
        let code = if text.chars().count() < min { "too_short" } else { "too_long" };
        fields.fault(name, code, format!("{name} must have {min} to {max} characters."));
    }
    password
}
