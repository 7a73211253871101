//! Who may pass: pages of our own origin, people who are logged in, the operator.

use actix_web::body::MessageBody;
use actix_web::cookie::Cookie;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage};
use domain::BusinessId;
use postgres::StoreError;
use web::{ApiError, bearer_token, same_secret};

use super::permissions::{least_role, methods_of};
use super::{errors, operator_session, session_cookie};
use crate::app::App;
use crate::commands::tell_pages::tell_pages;
use crate::domain::{Session, expiry, is_due_for_extension};
use crate::store::sessions;

/// A writing call must come from a page of ours, or from no page at all; and what it carries must be JSON, which no
/// form of a foreign page can send (SPECIFICATION §13).
pub(super) async fn refuse_foreign_writes(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody + 'static>, Error> {
    if !reads(&request) {
        check_origin(&request)?;
        check_content_type(&request)?;
    }
    next.call(request).await
}

fn reads(request: &ServiceRequest) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Pages of the business that are open anywhere hear of a writing call that succeeded, whichever it was.
async fn tell_of_change<B>(app: &App, changes: Option<BusinessId>, response: &ServiceResponse<B>) {
    if let Some(business) = changes
        && response.status().is_success()
    {
        tell_pages(app, business).await;
    }
}

fn check_origin(request: &ServiceRequest) -> Result<(), ApiError> {
    let foreign = || {
        ApiError::new(
            StatusCode::FORBIDDEN,
            "foreign_origin",
            "Pages of another origin may not write here. Call from the portal's own pages or from no page at all.",
        )
    };
    let app = request.app_data::<Data<App>>().ok_or_else(|| ApiError::internal("a guard without its app"))?;
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    for origin in request.headers().get_all(header::ORIGIN) {
        let origin = origin.to_str().map_err(|_| foreign())?;
        if !app.origins.allow(origin, host) {
            return Err(foreign());
        }
    }
    // A browser may leave `Origin` out; it never says this of a page of ours.
    if request.headers().get_all("sec-fetch-site").any(|site| site.as_bytes() == b"cross-site") {
        return Err(foreign());
    }
    Ok(())
}

/// For calls without a body too: a form that is posted from elsewhere names a type even when it is empty.
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

/// Lets nobody through who is not logged in, or whose role does not suffice; handlers find the [`Session`] as `ReqData`.
pub(super) async fn require_session(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody + 'static>, Error> {
    let app = request
        .app_data::<Data<App>>()
        .cloned()
        .ok_or_else(|| ApiError::internal("a guard without its app"))?;
    let InUse { session, renewed } =
        open_session(&app, request.request()).await?.ok_or_else(errors::not_logged_in)?;
    require_role(&request, &session)?;
    let changes = (!reads(&request)).then_some(session.business);
    request.extensions_mut().insert(session);
    let mut response = next.call(request).await?;
    tell_of_change(&app, changes, &response).await;
    forbid_keeping(&mut response);
    // A call that opened another session or ended this one has set the cookie itself.
    if let Some(cookie) = renewed.filter(|_| !response.headers().contains_key(header::SET_COOKIE)) {
        response.response_mut().add_cookie(&cookie)?;
    }
    Ok(response)
}

/// The path is taken as the router takes it, decoded: otherwise one that is written in another way would be judged as
/// one call and served as another.
fn require_role(request: &ServiceRequest, session: &Session) -> Result<(), ApiError> {
    let nothing_here = || ApiError::from_status(StatusCode::NOT_FOUND);
    let pattern = request.resource_map().match_pattern(request.match_info().as_str());
    let pattern = pattern.ok_or_else(nothing_here)?;
    match least_role(request.method(), &pattern) {
        Some(least) if session.role >= least => Ok(()),
        Some(least) => Err(errors::role_insufficient(least)),
        None => {
            let methods = methods_of(&pattern).join(", ");
            let allowed = HeaderValue::try_from(methods).ok().filter(|methods| !methods.is_empty());
            Err(match allowed {
                Some(methods) => {
                    ApiError::from_status(StatusCode::METHOD_NOT_ALLOWED).with_header(header::ALLOW, methods)
                }
                None => nothing_here(),
            })
        }
    }
}

/// The session that a request uses.
pub(super) struct InUse {
    pub(super) session: Session,
    /// The cookie, where its use has moved the session's end: the two end together.
    pub(super) renewed: Option<Cookie<'static>>,
}

/// The session of a request, if it has one that has not ended. Its use moves its end.
pub(super) async fn open_session(
    app: &App,
    request: &actix_web::HttpRequest,
) -> Result<Option<InUse>, ApiError> {
    let Some(token) = session_cookie::PORTAL.read(app, request) else { return Ok(None) };
    let now = app.clock.now();
    let read: Result<Option<InUse>, StoreError> = app
        .database
        .read(async |conn| {
            let Some(session) = sessions::find(conn, &token, now).await? else { return Ok(None) };
            if is_due_for_extension(&session, now) {
                let until = expiry(session.created_at, now);
                sessions::extend(conn, &session, until, now).await?;
                let renewed = Some(session_cookie::PORTAL.carry(app, &token, until));
                return Ok(Some(InUse { session: Session { expires_at: until, ..session }, renewed }));
            }
            Ok(Some(InUse { session, renewed: None }))
        })
        .await;
    read.map_err(errors::store)
}

/// Lets nobody through without the operator's token or the cookie that stands for it.
pub(super) async fn require_operator(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody + 'static>, Error> {
    let app = request
        .app_data::<Data<App>>()
        .cloned()
        .ok_or_else(|| ApiError::internal("a guard without its app"))?;
    let known = match bearer_token(request.headers())? {
        Some(given) => same_secret(given, &app.operator_token),
        None => operator_session::open_until(&app, request.request()).await?.is_some(),
    };
    if !known {
        return Err(app.failures.count(request.request(), errors::operator_token_invalid()).into());
    }
    // Whatever is changed below a business is a change of that business.
    let business = request.match_info().get("id").and_then(|id| id.parse().ok());
    let changes = business.filter(|_| !reads(&request));
    let mut response = next.call(request).await?;
    tell_of_change(&app, changes, &response).await;
    forbid_keeping(&mut response);
    Ok(response)
}

/// What is somebody's own is kept by no cache, neither a proxy's nor the browser's.
fn forbid_keeping<B>(response: &mut ServiceResponse<B>) {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
