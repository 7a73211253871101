//! `/v1/portal/sso/log-ins`: single sign-on of a business. The page that starts it sends the browser to the provider of the business,
//! and the page that the provider sends it back to completes it.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use domain::BusinessId;
use identity::Realm;
use identity::single_sign_on::{SsoPurpose, SsoResponse, SsoSubject};
use serde_json::Value;
use web::{ApiError, Fields, JsonBody, TextRule, read_object};

use crate::account::routes::opened::opened;
use crate::account::routes::session_views::SessionView;
use crate::http::audited::visitor;
use crate::http::caller::caller;
use crate::http::errors;
use crate::http::guard::active_session;
use crate::http::openapi::bodies;
use crate::http::session_cookie::{PORTAL, PORTAL_SSO};
use crate::single_sign_on::commands::start_sso::{self, SsoStart};
use crate::single_sign_on::commands::{SsoOutcome, SsoReturn, complete_business};
use crate::single_sign_on::routes::sso_log_ins::{self, SsoLogInView, response_fields};
use crate::state::State;

/// Longer than ids.
const BUSINESS_TEXT: TextRule = TextRule::line(100);

#[utoipa::path(
    post,
    path = "/v1/portal/sso/log-ins",
    operation_id = "startSso",
    tag = "Account",
    summary = "Start single sign-on of a business: open the URL of the response in this browser",
    request_body = bodies::StartBusinessSso,
    responses((status = 201, description = "The page of the identity provider. A cookie binds the log-in to this browser.", body = SsoLogInView)),
)]
pub(crate) async fn start(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let start = match parse_start(&body.0)? {
        Start::LogIn(business) => SsoStart {
            subject: SsoSubject::Business(business_id(&business)?),
            purpose: SsoPurpose::LogIn,
            session: None,
            caller: caller(&state, &request, Realm::User),
        },
        Start::Confirm => {
            let active = active_session(&state, &request).await?.ok_or_else(errors::not_logged_in)?;
            if !active.session.single_sign_on {
                return Err(errors::password_session());
            }
            SsoStart {
                subject: SsoSubject::Business(active.session.business),
                purpose: SsoPurpose::Confirm,
                session: PORTAL.read(&state, &request),
                caller: caller(&state, &request, Realm::User),
            }
        }
    };
    let started = start_sso::start(&state, start).await.map_err(errors::start_business_sso)?;
    Ok(sso_log_ins::started(&state, &PORTAL_SSO, started))
}

#[utoipa::path(
    post,
    path = "/v1/portal/sso/log-ins/complete",
    operation_id = "completeSso",
    tag = "Account",
    summary = "Complete single sign-on with the parameters that the identity provider has added to the page's URL",
    request_body = bodies::CompleteBusinessSso,
    responses(
        (status = 200, description = "The session. A cookie carries it.", body = SessionView),
        (status = 204, description = "The session is confirmed. A new cookie carries it."),
    ),
)]
pub(crate) async fn complete(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (business, response) = parse_return(&body.0)?;
    let business = business_id(&business)?;
    let token = PORTAL_SSO.read(&state, &request).ok_or_else(errors::sso_ended)?;
    let returned = SsoReturn { token, response, visitor: visitor(&state, &request, Realm::User) };
    let outcome = complete_business::complete(&state, business, &returned).await;
    match outcome.map_err(errors::complete_business_sso)? {
        SsoOutcome::Opened(session) => {
            let mut response = HttpResponse::Ok();
            response.cookie(PORTAL_SSO.clear(&state));
            opened(&state, Realm::User, &mut response, &session).await
        }
        SsoOutcome::Confirmed(token, expires_at) => {
            Ok(sso_log_ins::confirmed(&state, (&PORTAL_SSO, &PORTAL), (&token, expires_at)))
        }
        SsoOutcome::Linked => Ok(HttpResponse::NoContent().cookie(PORTAL_SSO.clear(&state)).finish()),
    }
}

enum Start {
    /// The id of the business.
    LogIn(String),
    Confirm,
}

/// `purpose`, and `businessId` to log in.
fn parse_start(body: &Value) -> Result<Start, ApiError> {
    read_object(body, |fields| match fields.required_word::<SsoPurpose>("purpose", "log_in or confirm")? {
        SsoPurpose::LogIn => business(fields).map(Start::LogIn),
        SsoPurpose::Confirm => Some(Start::Confirm),
        SsoPurpose::Link => {
            fields.reject("purpose", "invalid_value", "purpose must be log_in or confirm.");
            None
        }
    })
}

fn parse_return(body: &Value) -> Result<(String, SsoResponse), ApiError> {
    read_object(body, |fields| {
        let (business, response) = (business(fields), response_fields(fields));
        Some((business?, response?))
    })
}

fn business(fields: &Fields<'_>) -> Option<String> {
    fields.required_text("businessId", BUSINESS_TEXT)
}

/// Whether the business exists is not told.
fn business_id(text: &str) -> Result<BusinessId, ApiError> {
    text.parse().map_err(|_| errors::business_sso_off())
}
