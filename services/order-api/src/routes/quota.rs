//! Rate limits of the integration API: charges callers and reports their quota.

use ::web::{ApiError, Exceeded, Policy, RATE_LIMIT, RATE_LIMIT_POLICY, Standing};
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest, web};
use domain::ApiKeyId;
use internal_api::keys::AuthenticatedKey;

use crate::state::State;

/// Charges a call that is no replay.
pub(super) fn charge_request(
    state: &State,
    request: &HttpRequest,
    caller: &AuthenticatedKey,
) -> Result<(), ApiError> {
    report(request, state.rate_limits.requests.charge(caller.key_id)).map(drop)
}

/// Charges a creation, which may be a replay.
pub(super) fn charge_replay(
    state: &State,
    request: &HttpRequest,
    caller: &AuthenticatedKey,
) -> Result<Standing, ApiError> {
    report(request, state.rate_limits.replays.charge(caller.key_id))
}

/// Refunds the request of a creation that was a replay.
pub(super) fn was_replay(state: &State, request: &HttpRequest, replay: Standing, charged: Option<ApiKeyId>) {
    if let Some(key) = charged {
        state.rate_limits.requests.refund(key);
    }
    request.extensions_mut().insert(replay);
}

/// Middleware: adds `RateLimit` and `RateLimit-Policy` to each response. Of two charged buckets it reports the last
/// one, which is the tighter one. An unauthenticated caller has no bucket, so it gets only the policy.
pub(super) async fn headers<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, Error> {
    let policy = request.app_data::<web::Data<State>>().map(|state| state.rate_limits.requests.policy());
    let mut response = next.call(request).await?;
    // An error may already report the limit of the client address.
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

fn report(request: &HttpRequest, charged: Result<Standing, Exceeded>) -> Result<Standing, ApiError> {
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
