//! `/v1/operator/sso/log-ins`: single sign-on of the staff. The page that starts it sends the browser to the provider, and the page
//! that the provider sends it back to completes it.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use identity::Realm;
use identity::single_sign_on::{SsoPurpose, SsoResponse, SsoSubject};
use serde_json::Value;
use web::{ApiError, JsonBody, read_body, read_object};

use crate::account::routes::opened::opened;
use crate::account::routes::session_views::OperatorSessionView;
use crate::http::audited::visitor;
use crate::http::call::{Rule, Who};
use crate::http::caller::caller;
use crate::http::errors;
use crate::http::openapi::bodies;
use crate::http::operator_guard::console_session;
use crate::http::session_cookie::{OPERATOR, OPERATOR_SSO};
use crate::single_sign_on::commands::start_sso::{self, SsoStart};
use crate::single_sign_on::commands::{SsoOutcome, SsoReturn, complete_staff};
use crate::single_sign_on::routes::sso_log_ins::{self, SsoLogInView, response_fields};
use crate::state::State;

#[utoipa::path(
    post,
    path = "/v1/operator/sso/log-ins",
    operation_id = "startStaffSso",
    tag = "Operator",
    summary = "Start single sign-on: open the URL of the response in this browser",
    request_body = bodies::StartSso,
    responses((status = 201, description = "The page of the identity provider. A cookie binds the log-in to this browser.", body = SsoLogInView)),
)]
pub(crate) async fn start(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let purpose = parse_purpose(&body.0)?;
    let rules: Option<&[Rule]> = match purpose {
        SsoPurpose::LogIn => None,
        SsoPurpose::Confirm => Some(&[Rule::WhileEnrolling]),
        // A link outlives the session.
        SsoPurpose::Link => Some(&[Rule::Recent]),
    };
    let mut session = None;
    if let Some(rules) = rules {
        console_session(&state, &request, Who::Person, rules).await?;
        session = OPERATOR.read(&state, &request);
    }
    let caller = caller(&state, &request, Realm::Staff);
    let start = SsoStart { subject: SsoSubject::Staff, purpose, session, caller };
    let started = start_sso::start(&state, start).await.map_err(errors::start_sso)?;
    Ok(sso_log_ins::started(&state, &OPERATOR_SSO, started))
}

#[utoipa::path(
    post,
    path = "/v1/operator/sso/log-ins/complete",
    operation_id = "completeStaffSso",
    tag = "Operator",
    summary = "Complete single sign-on with the parameters that the identity provider has added to the page's URL",
    request_body = bodies::CompleteSso,
    responses(
        (status = 200, description = "The session. A cookie carries it.", body = OperatorSessionView),
        (status = 204, description = "The session is confirmed, and a new cookie carries it; or the account is linked."),
    ),
)]
pub(crate) async fn complete(
    state: Data<State>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let response = parse_response(&body.0)?;
    let token = OPERATOR_SSO.read(&state, &request).ok_or_else(errors::sso_ended)?;
    let returned = SsoReturn { token, response, visitor: visitor(&state, &request, Realm::Staff) };
    match complete_staff::complete(&state, &returned).await.map_err(errors::complete_sso)? {
        SsoOutcome::Opened(session) => {
            let mut response = HttpResponse::Ok();
            response.cookie(OPERATOR_SSO.clear(&state));
            opened(&state, Realm::Staff, &mut response, &session).await
        }
        SsoOutcome::Confirmed(token, expires_at) => {
            Ok(sso_log_ins::confirmed(&state, (&OPERATOR_SSO, &OPERATOR), (&token, expires_at)))
        }
        SsoOutcome::Linked => Ok(HttpResponse::NoContent().cookie(OPERATOR_SSO.clear(&state)).finish()),
    }
}

fn parse_purpose(body: &Value) -> Result<SsoPurpose, ApiError> {
    read_body(body, &["purpose"], |fields| fields.required_word::<SsoPurpose>("purpose", SsoPurpose::WORDS))
}

/// `code`, or `error`. Clients ignore further parameters of a provider (RFC 6749 §4.1.2).
fn parse_response(body: &Value) -> Result<SsoResponse, ApiError> {
    read_object(body, response_fields)
}
