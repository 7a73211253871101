//! The caller of a request, for rate limits and the password queue.

use actix_web::HttpRequest;

use super::browser_cookie;
use crate::commands::Caller;
use crate::domain::CallerAddress;
use crate::state::State;

pub(super) fn address(state: &State, request: &HttpRequest) -> Option<CallerAddress> {
    let address = web::CallerAddress::of(request, &state.trusted_proxies)?;
    Some(CallerAddress::new(address.text()))
}

pub(super) fn caller(state: &State, request: &HttpRequest) -> Caller {
    Caller { address: address(state, request), browser: browser_cookie::read(state, request) }
}
