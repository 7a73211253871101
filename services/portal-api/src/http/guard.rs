//! The checks of calls of users by their rows, and the refusal of writing calls from foreign pages.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::cookie::Cookie;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage};
use domain::BusinessId;
use web::ApiError;

use crate::account::commands::use_session::{is_present, use_session};
use crate::audit::commands::audit_line::log_role_refusal;
use crate::audit::domain::Author;
use crate::business::queries::closing;
use crate::commands::publish_portal_change::publish_portal_change;
use crate::domain::{Mask, Permission, Session, Site};
use crate::http::audited::request_id;
use crate::http::call::{Call, Rule};
use crate::http::caller::{address, is_attended, require_expected_user, require_recent};
use crate::http::masked::masked;
use crate::http::{errors, session_cookie};
use crate::state::State;

/// Writing calls must come from a page of the portal or from no page, and carry JSON, which forms of foreign pages cannot send
/// (SPECIFICATION §13).
pub(crate) async fn refuse_foreign_writes(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody + 'static>, Error> {
    if !is_read(&request) {
        check_origin(&request)?;
        check_content_type(&request)?;
    }
    next.call(request).await
}

pub(crate) fn is_read(request: &ServiceRequest) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Refreshes the open pages of the business after every successful writing call.
pub(crate) fn publish_change(
    state: &State,
    changed: Option<BusinessId>,
    response: &ServiceResponse<BoxBody>,
) {
    if let Some(business) = changed
        && response.status().is_success()
    {
        publish_portal_change(state, business);
    }
}

pub(crate) fn state_of(request: &ServiceRequest) -> Result<&Data<State>, ApiError> {
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

/// Requires a session whose role has the permission, and what the rules of the call say. Masks what the role does not see.
pub(crate) async fn of_user(
    call: &Call,
    permission: Permission,
    request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse, Error> {
    let state = state_of(&request)?.clone();
    let ActiveSession { session, renewed } =
        active_session(&state, request.request()).await?.ok_or_else(errors::not_logged_in)?;
    if !call.has(Rule::AnyPage) {
        require_expected_user(request.request(), &session.user.to_string())?;
    }
    if session.must_enrol && !call.has(Rule::WhileEnrolling) {
        return Err(errors::mfa_enrolment_required().into());
    }
    if !session.acts_on_account() && call.has(Rule::NotSingleSignOn) {
        return Err(errors::single_sign_on_session().into());
    }
    if !session.role.may(permission) {
        let author = Author::of(&session, request_id(request.request()));
        let author = author.at(address(&state, request.request()));
        log_role_refusal(&author, session.business, permission);
        return Err(errors::role_insufficient(permission).into());
    }
    if call.has(Rule::Recent) {
        require_recent(&state, Some(session.authenticated_at))?;
    }
    require_open(call, &state, session.business).await?;
    let mask = Mask::of(session.role).filter(|_| call.has(Rule::Masked));
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

/// What a closing refuses, of users and of the operator.
pub(crate) async fn require_open(call: &Call, state: &State, business: BusinessId) -> Result<(), ApiError> {
    if !call.ends_with_business() {
        return Ok(());
    }
    match closing::find(state, business).await? {
        Some(found) if found.completed_at.is_some() => Err(errors::business_closed()),
        Some(_) if call.has(Rule::NotClosing) => Err(errors::business_closing()),
        Some(found) if found.ending_at.is_some() && call.has(Rule::NotClosed) => Err(errors::closing_ends()),
        _ => Ok(()),
    }
}

/// Whether no confirmation has replaced the token of the request.
async fn has_present_token(state: &State, request: &actix_web::HttpRequest) -> Result<bool, ApiError> {
    match session_cookie::PORTAL.read(state, request) {
        Some(token) => Ok(is_present(state, &token).await?),
        None => Ok(false),
    }
}

/// The session of a request.
pub(crate) struct ActiveSession {
    pub(crate) session: Session,
    /// The new cookie, if the session was extended: both have the same end.
    renewed: Option<Cookie<'static>>,
}

/// The open session of a request, which this extends.
pub(crate) async fn active_session(
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

/// Personal responses must not be cached, neither by proxies nor by browsers.
pub(crate) fn forbid_caching(response: &mut ServiceResponse<BoxBody>) {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
