//! The caller of a request, for rate limits and the password queue.

use actix_web::HttpRequest;

use super::browser_cookie;
use crate::commands::Caller;
use crate::domain::CallerAddress;
use crate::state::State;

/// The header of calls that a page sends by itself.
const UNATTENDED: &str = "unattended";

pub(super) fn address(state: &State, request: &HttpRequest) -> Option<CallerAddress> {
    let address = web::CallerAddress::of(request, &state.trusted_proxies)?;
    Some(CallerAddress::new(address.text()))
}

/// False for a page that refreshes itself while nobody uses it: it must not keep the session open. The header is no control:
/// an attacker with the cookie can leave it out.
pub(super) fn is_attended(request: &HttpRequest) -> bool {
    // A browser opens streams again by itself, and cannot add a header to them.
    !request.headers().contains_key(UNATTENDED) && !request.path().ends_with("/stream")
}

pub(super) fn caller(state: &State, request: &HttpRequest) -> Caller {
    Caller { address: address(state, request), browser: browser_cookie::PORTAL.read(state, request) }
}

/// As [`caller`], of the console.
pub(super) fn console_caller(state: &State, request: &HttpRequest) -> Caller {
    Caller { address: address(state, request), browser: browser_cookie::OPERATOR.read(state, request) }
}
