//! `POST /v1/portal/accounts`: a business signs up. Also parses the fields of accounts.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody, TextRule};

use super::audited::{browser, request_id};
use super::caller::address;
use super::openapi::bodies;
use super::session::SessionView;
use super::{browser_cookie, errors, session_cookie};
use crate::commands::sign_up::{SignUp, sign_up as create_account};
use crate::domain::{Email, Password, PasswordRejection, has_web_address};
use crate::mail::is_deliverable;
use crate::state::State;

#[utoipa::path(
    post,
    path = "/v1/portal/accounts",
    operation_id = "signUp",
    tag = "Account",
    summary = "Sign up: creates a business, its owner and a session",
    request_body = bodies::SignUp,
    responses((status = 201, description = "The session. A cookie carries it.", body = SessionView)),
)]
pub(super) async fn sign_up(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (business_name, email, password) = parse(&body.0)?;
    let address = address(&state, &request);
    let (browser, request) = (browser(&state, &request), request_id(&request));
    let sign_up = SignUp { business_name, email, password, address, browser, request };
    let opened = create_account(&state, sign_up).await.map_err(errors::sign_up)?;
    Ok(HttpResponse::Created()
        .cookie(session_cookie::PORTAL.set(&state, &opened.token, opened.session.expires_at))
        .cookie(browser_cookie::set(&state, &opened.browser))
        .json(SessionView::of(&opened.session)))
}

fn parse(body: &Value) -> Result<(String, Email, Password), ApiError> {
    let field_errors = FieldErrors::default();
    let parsed = Fields::of_body(body, &field_errors).and_then(|fields| {
        let business_name = business_name(&fields);
        let email = reachable_email(&fields);
        let password = new_password(&fields, "password", email.as_ref());
        Some((business_name?, email?, password?))
    });
    match parsed {
        Some(parsed) if field_errors.is_empty() => Ok(parsed),
        _ => Err(ApiError::invalid(field_errors)),
    }
}

/// The name appears in the operator's lists and in mails, next to other text. Characters that change the direction of
/// writing could disguise that text.
fn business_name(fields: &Fields<'_>) -> Option<String> {
    let name = fields.required_text("businessName", TextRule::line(120))?;
    if name.contains(|character| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')) {
        let message = "businessName must not contain characters that change the direction of writing.";
        fields.reject("businessName", "invalid_format", message);
        return None;
    }
    if has_web_address(&name) {
        let message =
            "businessName must not contain a web address, because it would become a link in e-mails.";
        fields.reject("businessName", "invalid_format", message);
        return None;
    }
    Some(name)
}

/// The e-mail address of an account.
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

/// The e-mail address of a new user, which mails must be able to reach.
pub(super) fn reachable_email(fields: &Fields<'_>) -> Option<Email> {
    let email = email(fields)?;
    if !is_deliverable(&email) {
        let message = "email must be a deliverable e-mail address, such as you@shop.example.";
        fields.reject("email", "invalid_format", message);
        return None;
    }
    Some(email)
}

/// The exact text of a password, including leading and trailing spaces.
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

/// A new password. `email` is the user's address, if known.
pub(super) fn new_password(fields: &Fields<'_>, name: &str, email: Option<&Email>) -> Option<Password> {
    let (min, max) = (Password::MIN, Password::MAX);
    let range = format!("{name} must have {min} to {max} characters.");
    let (code, message) = match Password::new(password_text(fields, name)?) {
        Ok(password) if email.is_some_and(|email| password.is_like(email)) => {
            ("too_common", format!("{name} must not be your e-mail address."))
        }
        Ok(password) => return Some(password),
        Err(PasswordRejection::Short) => ("too_short", range),
        Err(PasswordRejection::Long) => ("too_long", range),
        Err(PasswordRejection::Common) => {
            ("too_common", format!("{name} is a common password and easy to guess. Choose another one."))
        }
    };
    fields.reject(name, code, message);
    None
}
