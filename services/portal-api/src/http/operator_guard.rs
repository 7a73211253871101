//! The checks of calls of the operator by their rows.

use std::rc::Rc;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header;
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest};
use identity::Realm;
use web::ApiError;

use crate::account::commands::console_session::ConsoleSession;
use crate::account::commands::destination::accepts_password;
use crate::audit::commands::audit_line::{Refusal, log_refusal};
use crate::domain::OperatorPermission;
use crate::http::audited::request_id;
use crate::http::call::{Call, Rule, Who};
use crate::http::caller::{address, require_recent};
use crate::http::errors;
use crate::http::guard::{forbid_caching, is_read, publish_change, require_open, state_of};
use crate::http::operator_caller::{self, OperatorCallerFound};
use crate::http::operator_records::{Refused, record_read, record_refusal, refused_in};
use crate::state::State;

/// Requires a token of the operator or the cookie of a console session, with the permission. Writes reads of personal data to the
/// operator's log before they are sent.
pub(crate) async fn of_operator(
    call: &Call,
    permission: OperatorPermission,
    request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse, Error> {
    let state = state_of(&request)?.clone();
    let caller = authenticated(&state, request.request()).await?;
    let (author, role) = (caller.author, caller.role);
    if caller.must_enrol && !call.has(Rule::WhileEnrolling) {
        return Err(errors::mfa_enrolment_required().into());
    }
    if !author.may(role, permission) {
        let of_call = (request.request(), call.path);
        let refused =
            record_refusal(&state, &author, Refused::Permission(permission.to_string()), of_call).await;
        refused.map_err(ApiError::from)?;
        return Err(errors::permission_missing(permission, role).into());
    }
    if call.has(Rule::Recent) {
        require_recent(&state, caller.authenticated_at)?;
    }
    // Paths below a business change that business.
    let business = operator_caller::business_of(request.request());
    if let Some(business) = business {
        require_open(call, &state, business).await?;
    }
    let changed = business.filter(|_| !is_read(&request));
    request.extensions_mut().insert(author.clone());
    request.extensions_mut().insert(role);
    let mut response = next.call(request).await?;
    if let Some(action) = call.logged() {
        record_read(&state, &author, action, &response).await.map_err(ApiError::from)?;
    }
    if let Some(refused) = refused_in(&response) {
        let refused = record_refusal(&state, &author, refused, (response.request(), call.path)).await;
        refused.map_err(ApiError::from)?;
    }
    publish_change(&state, changed, &response);
    forbid_caching(&mut response);
    Ok(response)
}

/// Who sends a call of the operator.
///
/// # Errors
/// 401 without a valid token or session.
pub(crate) async fn authenticated(
    state: &State,
    request: &HttpRequest,
) -> Result<OperatorCallerFound, ApiError> {
    if let Some(caller) = operator_caller::of_call(state, request).await? {
        return Ok(caller);
    }
    if request.headers().contains_key(header::AUTHORIZATION) {
        let from = address(state, request);
        log_refusal(Refusal::WrongToken, Realm::Staff, from.as_ref(), request_id(request));
    }
    Err(state.failure_limits.count(request, errors::operator_token_invalid()))
}

/// Requires a console session, and what the rules of the call say.
pub(crate) async fn of_console(
    call: &Call,
    request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse, Error> {
    let state = state_of(&request)?.clone();
    let session = console_session(&state, request.request(), call.who, call.rules).await?;
    request.extensions_mut().insert(Rc::new(session));
    let mut response = next.call(request).await?;
    forbid_caching(&mut response);
    Ok(response)
}

/// The console session that sends a call with these rules.
///
/// # Errors
/// 401 without a session; 403 if it is one of the configured token and the call needs a person, or if it breaks a rule.
pub(crate) async fn console_session(
    state: &State,
    request: &HttpRequest,
    who: Who,
    rules: &[Rule],
) -> Result<ConsoleSession, ApiError> {
    let found = match rules.contains(&Rule::AnyPage) {
        true => operator_caller::session(state, request).await?,
        false => operator_caller::session_of_page(state, request).await?,
    };
    let session = found.ok_or_else(errors::not_logged_in)?;
    if session.must_enrol && !rules.contains(&Rule::WhileEnrolling) {
        return Err(errors::mfa_enrolment_required());
    }
    let person = session.actor.staff();
    if who == Who::Person && person.is_none() {
        return Err(errors::account_required());
    }
    if rules.contains(&Rule::Recent) {
        require_recent(state, Some(session.authenticated_at))?;
    }
    // The provider decides about the access of who logged in with single sign-on, or is linked: a password proves nothing.
    if let Some(person) = person.filter(|_| rules.contains(&Rule::NotSingleSignOn))
        && (session.single_sign_on || !accepts_password(state, person).await?)
    {
        return Err(errors::password_log_in_off());
    }
    Ok(session)
}
