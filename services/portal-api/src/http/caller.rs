//! The caller of a request: for rate limits and the password queue, and what each call expects of it.

use actix_web::HttpRequest;
use chrono::{DateTime, Utc};
use identity::second_factors::is_recent;
use identity::{CallerAddress, Realm};
use web::ApiError;

use crate::account::commands::Caller;
use crate::http::{browser_cookie, errors};
use crate::state::State;

/// The header of calls that a page sends by itself.
const UNATTENDED: &str = "unattended";

/// The person whose data the page shows.
const EXPECTED_USER: &str = "expected-user";

/// 409 if the page shows the data of another person or business: somebody has logged in or switched in another tab, and all tabs
/// share the cookie. Programs leave the header out.
pub(crate) fn require_expected_user(request: &HttpRequest, user: &str) -> Result<(), ApiError> {
    let expected = request.headers().get(EXPECTED_USER);
    let is_other = expected.is_some_and(|expected| expected.as_bytes() != user.as_bytes());
    if is_other { Err(errors::session_changed()) } else { Ok(()) }
}

/// 403 if the last authentication was too long ago. `None` for tokens, which programs send.
pub(crate) fn require_recent(state: &State, at: Option<DateTime<Utc>>) -> Result<(), ApiError> {
    let (within, now) = (state.factor_policy.recent_within, state.unit.clock.now());
    let is_allowed = at.is_none_or(|at| is_recent(at, within, now));
    is_allowed.then_some(()).ok_or_else(errors::recent_authentication_required)
}

pub(crate) fn address(state: &State, request: &HttpRequest) -> Option<CallerAddress> {
    let address = web::CallerAddress::of(request, &state.trusted_proxies)?;
    Some(CallerAddress::new(address.text()))
}

/// False for a page that refreshes itself while nobody uses it: it must not keep the session open. The header is no control:
/// an attacker with the cookie can leave it out.
pub(crate) fn is_attended(request: &HttpRequest) -> bool {
    // A browser opens streams again by itself, and cannot add a header to them.
    !request.headers().contains_key(UNATTENDED) && !request.path().ends_with("/stream")
}

pub(crate) fn caller(state: &State, request: &HttpRequest, realm: Realm) -> Caller {
    Caller { address: address(state, request), browser: browser_cookie::of(realm).read(state, request) }
}
