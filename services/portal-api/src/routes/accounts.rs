//! `POST /v1/portal/accounts`: a business signs up.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody, TextRule};

use super::account_fields::{new_password, reachable_email};
use super::audited::{browser, request_id};
use super::caller::address;
use super::openapi::bodies;
use super::session::SessionView;
use super::{browser_cookie, errors, session_cookie};
use crate::commands::sign_up::{SignUp, sign_up as create_account};
use crate::domain::{Email, Password, has_web_address};
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
    let (browser, request) = (browser(&state, &request, &session_cookie::PORTAL), request_id(&request));
    let sign_up = SignUp { business_name, email, password, address, browser, request };
    let opened = create_account(&state, sign_up).await.map_err(errors::sign_up)?;
    Ok(HttpResponse::Created()
        .cookie(session_cookie::PORTAL.set(&state, &opened.token, opened.session.expires_at))
        .cookie(browser_cookie::PORTAL.set(&state, &opened.browser))
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
