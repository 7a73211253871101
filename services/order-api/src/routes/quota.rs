//! Rate limits on the integration API: charging a caller, and telling every caller where it stands.

use ::web::{ApiError, Exceeded, Policy, RATE_LIMIT, RATE_LIMIT_POLICY, Standing};
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest, web};
use domain::ApiKeyId;
use internal_api::keys::AuthenticatedKey;

use crate::app::App;

/// Charges a call that does something new.
pub(super) fn charge_request(
    app: &App,
    request: &HttpRequest,
    caller: &AuthenticatedKey,
) -> Result<(), ApiError> {
    note(request, app.limits.requests.charge(caller.key_id)).map(drop)
}

/// Charges a creation, of which it is not known yet whether it is a replay.
pub(super) fn charge_replay(
    app: &App,
    request: &HttpRequest,
    caller: &AuthenticatedKey,
) -> Result<Standing, ApiError> {
    note(request, app.limits.replays.charge(caller.key_id))
}

/// A creation turned out to be a replay: it counts among those, and not among the requests of the key that was charged.
pub(super) fn was_replay(app: &App, request: &HttpRequest, replay: Standing, charged: Option<ApiKeyId>) {
    if let Some(key) = charged {
        app.limits.requests.give_back(key);
    }
    request.extensions_mut().insert(replay);
}

/// Middleware: `RateLimit` and `RateLimit-Policy` on every answer. Of two buckets that a call was charged to, the later
/// one is told, which is the tighter. A caller that was not let in has no bucket, and hears the policy alone.
pub(super) async fn headers<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, Error> {
    let policy = request.app_data::<web::Data<App>>().map(|app| app.limits.requests.policy());
    let mut response = next.call(request).await?;
    // A refusal may tell of another limit, that of the address.
    if response.headers().contains_key(RATE_LIMIT_POLICY) {
        return Ok(response);
    }
    let standing = response.request().extensions().get::<Standing>().copied();
    if let Some(policy) = standing.map(|standing| standing.policy).or(policy) {
        write(response.headers_mut(), policy, standing);
    }
    Ok(response)
}

fn write(headers: &mut HeaderMap, policy: Policy, standing: Option<Standing>) {
    let texts = [(RATE_LIMIT_POLICY, Some(policy.header())), (RATE_LIMIT, standing.map(|s| s.header()))];
    for (name, text) in texts {
        if let Some(value) = text.and_then(|text| HeaderValue::try_from(text).ok()) {
            headers.insert(name, value);
        }
    }
}

fn note(request: &HttpRequest, charged: Result<Standing, Exceeded>) -> Result<Standing, ApiError> {
    let (standing, outcome) = match charged {
        Ok(standing) => (standing, Ok(standing)),
        Err(Exceeded(standing)) => (standing, Err(too_many(standing.resets_in_s))),
    };
    request.extensions_mut().insert(standing);
    outcome
}

pub(super) fn too_many(wait_s: u64) -> ApiError {
    let seconds = u32::try_from(wait_s).unwrap_or(u32::MAX);
    let message = format!("This API key calls too often. Wait {seconds} s, then go on more slowly.");
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).retry_after(seconds)
}
