//! `POST /v1/portal/accounts`: a business signs up.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody, TextRule};

use super::address::address;
use super::author::{browser, request_id};
use super::openapi::bodies;
use super::session::SessionView;
use super::{browser_cookie, errors, session_cookie};
use crate::app::App;
use crate::commands::sign_up::{self, SignUp};
use crate::domain::{Email, Password, Unfit, has_web_address};
use crate::mail::is_deliverable;

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
    let address = address(&app, &request);
    let (browser, request) = (browser(&app, &request), request_id(&request));
    let wanted = SignUp { business_name, email, password, address, browser, request };
    let opened = sign_up::sign_up(&app, wanted).await.map_err(errors::sign_up)?;
    Ok(HttpResponse::Created()
        .cookie(session_cookie::PORTAL.carry(&app, &opened.token, opened.session.expires_at))
        .cookie(browser_cookie::carry(&app, &opened.browser))
        .json(SessionView::of(&opened.session)))
}

fn parse(body: &Value) -> Result<(String, Email, Password), ApiError> {
    let field_errors = FieldErrors::default();
    let parsed = Fields::of_body(body, &field_errors).and_then(|fields| {
        let business_name = business_name(&fields);
        let email = reachable_email(&fields);
        let password = chosen_password(&fields, "password", email.as_ref());
        Some((business_name?, email?, password?))
    });
    match parsed {
        Some(parsed) if field_errors.is_empty() => Ok(parsed),
        _ => Err(ApiError::invalid(field_errors)),
    }
}

/// It is shown to others: in the operator's lists, in mails. So nothing in it may turn around what stands beside it.
fn business_name(fields: &Fields<'_>) -> Option<String> {
    let name = fields.required_text("businessName", TextRule::line(120))?;
    if name.contains(|character| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')) {
        let message = "businessName must not have characters that change the direction of writing.";
        fields.reject("businessName", "invalid_format", message);
        return None;
    }
    if has_web_address(&name) {
        let message =
            "businessName must not have a web address: it stands in mails, where it would be a link.";
        fields.reject("businessName", "invalid_format", message);
        return None;
    }
    Some(name)
}

/// The e-mail of an account.
pub(super) fn email(fields: &Fields<'_>) -> Option<Email> {
    let text = fields.required_text("email", TextRule::line(320))?;
    let email = Email::parse(&text);
    if email.is_none() {
        fields.reject(
            "email",
            "invalid_format",
            "email must be an e-mail address, such as you@shop.example.",
        );
    }
    email
}

/// The e-mail of somebody new, which mails must be able to reach.
pub(super) fn reachable_email(fields: &Fields<'_>) -> Option<Email> {
    let email = email(fields)?;
    if !is_deliverable(&email) {
        let message = "email must be an address that mails can be sent to, such as you@shop.example.";
        fields.reject("email", "invalid_format", message);
        return None;
    }
    Some(email)
}

/// A password's text exactly as it is: spaces at its ends belong to it.
pub(super) fn password_text<'a>(fields: &Fields<'a>, name: &str) -> Option<&'a str> {
    match fields.value(name) {
        None => fields.missing(name),
        Some(Value::String(text)) if text.is_empty() => fields.missing(name),
        Some(Value::String(text)) => Some(text),
        Some(_) => {
            fields.reject(name, "invalid_type", format!("{name} must be a string."));
            None
        }
    }
}

/// A password that is to be somebody's from now on; `email` is theirs, where it is known here.
pub(super) fn chosen_password(fields: &Fields<'_>, name: &str, email: Option<&Email>) -> Option<Password> {
    let (min, max) = (Password::MIN, Password::MAX);
    let range = format!("{name} must have {min} to {max} characters.");
    let (code, message) = match Password::choose(password_text(fields, name)?) {
        Ok(password) if email.is_some_and(|email| password.is_like(email)) => {
            ("too_common", format!("{name} must not be the e-mail."))
        }
        Ok(password) => return Some(password),
        Err(Unfit::Short) => ("too_short", range),
        Err(Unfit::Long) => ("too_long", range),
        Err(Unfit::Common) => {
            ("too_common", format!("{name} is among those that are guessed first. Choose another one."))
        }
    };
    fields.reject(name, code, message);
    None
}
