//! Middleware that rejects foreign pages, callers without a session, and callers who are not the operator or lack the
//! permission.

use actix_web::body::MessageBody;
use actix_web::cookie::Cookie;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage};
use domain::BusinessId;
use web::ApiError;

use super::audited::request_id;
use super::caller::{address, is_attended, require_expected_user};
use super::masked::masked;
use super::operator_permissions::OPERATOR_CALLS;
use super::operator_records::{Refused, record_read, record_refusal, refused_in};
use super::permissions::PORTAL_CALLS;
use super::sensitive_calls::{
    ACCOUNT_CALLS, RECENT_CALLS, RECENT_OPERATOR_CALLS, WHILE_ENROLLING, require_recent,
};
use super::{call_table, errors, operator_caller, session_cookie};
use crate::commands::audit_line::{Refusal, log_refusal, log_role_refusal};
use crate::commands::publish_portal_change::publish_portal_change;
use crate::commands::use_session::{is_present, use_session};
use crate::domain::{Author, Mask, Session, Site};
use crate::state::State;

/// Writing calls must come from a page of the portal or from no page, and carry JSON, which forms of foreign pages cannot send
/// (SPECIFICATION §13).
pub(super) async fn refuse_foreign_writes(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody + 'static>, Error> {
    if !is_read(&request) {
        check_origin(&request)?;
        check_content_type(&request)?;
    }
    next.call(request).await
}

fn is_read(request: &ServiceRequest) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Refreshes the open pages of the business after every successful writing call.
fn publish_change<B>(state: &State, changed: Option<BusinessId>, response: &ServiceResponse<B>) {
    if let Some(business) = changed
        && response.status().is_success()
    {
        publish_portal_change(state, business);
    }
}

fn state_of(request: &ServiceRequest) -> Result<&Data<State>, ApiError> {
    request.app_data().ok_or_else(|| ApiError::internal("a guard runs without the state"))
}

fn check_origin(request: &ServiceRequest) -> Result<(), ApiError> {
    let foreign = || {
        ApiError::new(
            StatusCode::FORBIDDEN,
            "foreign_origin",
            "Pages of other origins must not send writing calls. Call from the portal's own pages, or from a program without an Origin header.",
        )
    };
    let site: Option<&Data<Site>> = request.app_data();
    let site = site.ok_or_else(|| ApiError::internal("a guard runs without the site"))?;
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    for origin in request.headers().get_all(header::ORIGIN) {
        let origin = origin.to_str().map_err(|_| foreign())?;
        if !site.origins.allow(origin, host) {
            return Err(foreign());
        }
    }
    // Browsers may omit `Origin`, but never send this for pages of the portal.
    if request.headers().get_all("sec-fetch-site").any(|site| site.as_bytes() == b"cross-site") {
        return Err(foreign());
    }
    Ok(())
}

/// Applies to calls without a body too: even empty forms are posted with a content type.
fn check_content_type(request: &ServiceRequest) -> Result<(), ApiError> {
    let Some(given) = request.headers().get(header::CONTENT_TYPE) else { return Ok(()) };
    let media_type = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    let media_type = media_type.trim().to_ascii_lowercase();
    if media_type == "application/json"
        || (media_type.starts_with("application/") && media_type.ends_with("+json"))
    {
        return Ok(());
    }
    Err(ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_media_type",
        "Send the body as JSON, with Content-Type: application/json.",
    ))
}

/// Requires a session whose role has the permission of the call. Handlers receive the [`Session`] as `ReqData`. Masks what the
/// role does not see.
pub(super) async fn require_session(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody + 'static>, Error> {
    let state = state_of(&request)?.clone();
    let ActiveSession { session, renewed } =
        active_session(&state, request.request()).await?.ok_or_else(errors::not_logged_in)?;
    require_expected_user(request.request(), &session.user.to_string())?;
    if session.must_enrol && !WHILE_ENROLLING.contains(&request) {
        return Err(errors::mfa_enrolment_required().into());
    }
    if !session.acts_on_account() && ACCOUNT_CALLS.contains(&request) {
        return Err(errors::single_sign_on_session().into());
    }
    let call = PORTAL_CALLS.row(&request)?;
    if !session.role.may(call.permission) {
        let author = Author::of(&session, request_id(request.request()));
        let author = author.at(address(&state, request.request()));
        log_role_refusal(&author, session.business, call.permission);
        return Err(errors::role_insufficient(call.permission).into());
    }
    if RECENT_CALLS.contains(&request) {
        require_recent(&state, Some(session.authenticated_at))?;
    }
    let mask = Mask::of(session.role).filter(|_| call.shows_customers);
    let business = session.business;
    let changed = (!is_read(&request)).then_some(business);
    request.extensions_mut().insert(session);
    let mut response = masked(&state, business, next.call(request).await?, mask).await?;
    publish_change(&state, changed, &response);
    forbid_caching(&mut response);
    // Calls that open, confirm or end a session set the cookie themselves, and another one may have done so meanwhile.
    if let Some(cookie) = renewed.filter(|_| !response.headers().contains_key(header::SET_COOKIE))
        && has_present_token(&state, response.request()).await?
    {
        response.response_mut().add_cookie(&cookie)?;
    }
    Ok(response)
}

/// Whether no confirmation has replaced the token of the request.
pub(super) async fn has_present_token(
    state: &State,
    request: &actix_web::HttpRequest,
) -> Result<bool, ApiError> {
    match session_cookie::PORTAL.read(state, request) {
        Some(token) => Ok(is_present(state, &token).await?),
        None => Ok(false),
    }
}

/// The session of a request.
pub(super) struct ActiveSession {
    pub(super) session: Session,
    /// The new cookie, if the session was extended: both have the same end.
    pub(super) renewed: Option<Cookie<'static>>,
}

/// The open session of a request, which this extends.
pub(super) async fn active_session(
    state: &State,
    request: &actix_web::HttpRequest,
) -> Result<Option<ActiveSession>, ApiError> {
    let Some(token) = session_cookie::PORTAL.read(state, request) else { return Ok(None) };
    let used = use_session(state, &token, is_attended(request)).await?;
    Ok(used.map(|used| ActiveSession {
        renewed: used.extended_until.map(|until| session_cookie::PORTAL.set(state, &token, until)),
        session: used.session,
    }))
}

/// Requires a token of the operator or the cookie of a console session, with the permission of the call. Handlers receive
/// the [`Author`] and the role. Writes reads of personal data to the operator's log before they are sent.
pub(super) async fn require_operator(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody + 'static>, Error> {
    let state = state_of(&request)?.clone();
    let Some(caller) = operator_caller::of_call(&state, request.request()).await? else {
        if request.headers().contains_key(header::AUTHORIZATION) {
            let from = address(&state, request.request());
            log_refusal(Refusal::WrongToken, "console", from.as_ref(), request_id(request.request()));
        }
        return Err(state.failure_limits.count(request.request(), errors::operator_token_invalid()).into());
    };
    let (author, role) = (caller.author, caller.role);
    if caller.must_enrol {
        return Err(errors::mfa_enrolment_required().into());
    }
    let call = OPERATOR_CALLS.row(&request)?;
    let path = call_table::pattern(&request).unwrap_or_default();
    if !author.may(role, call.permission) {
        let of_call = (request.request(), path.as_str());
        let refused =
            record_refusal(&state, &author, Refused::Permission(call.permission.to_string()), of_call).await;
        refused.map_err(ApiError::from)?;
        return Err(errors::permission_missing(call.permission, role).into());
    }
    if RECENT_OPERATOR_CALLS.contains(&request) {
        require_recent(&state, caller.authenticated_at)?;
    }
    // Paths below a business change that business.
    let business = operator_caller::business_of(request.request());
    let changed = business.filter(|_| !is_read(&request));
    request.extensions_mut().insert(author.clone());
    request.extensions_mut().insert(role);
    let mut response = next.call(request).await?;
    if response.status().is_success() {
        record_read(&state, &author, call, response.request()).await.map_err(ApiError::from)?;
    }
    if let Some(refused) = refused_in(&response) {
        let refused = record_refusal(&state, &author, refused, (response.request(), &path)).await;
        refused.map_err(ApiError::from)?;
    }
    publish_change(&state, changed, &response);
    forbid_caching(&mut response);
    Ok(response)
}

/// Personal responses must not be cached, neither by proxies nor by browsers.
fn forbid_caching<B>(response: &mut ServiceResponse<B>) {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
