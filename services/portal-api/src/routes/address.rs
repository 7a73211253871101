//! Where a request comes from, for the limits and for turns.

use actix_web::HttpRequest;

use super::browser_cookie;
use crate::app::App;
use crate::commands::Origin;
use crate::domain::CallerAddress;

pub(super) fn address(app: &App, request: &HttpRequest) -> Option<CallerAddress> {
    CallerAddress::of(request, &app.limits.trusted_proxies)
}

pub(super) fn origin(app: &App, request: &HttpRequest) -> Origin {
    Origin { address: address(app, request), browser: browser_cookie::read(app, request) }
}
