//! Where a request comes from, for the limits per address.

use actix_web::HttpRequest;

use crate::app::App;
use crate::domain::CallerAddress;

/// `None` when addresses are not counted.
pub(super) fn counted_address(app: &App, request: &HttpRequest) -> Option<CallerAddress> {
    let limits = &app.limits;
    if limits.per_address { CallerAddress::of(request, &limits.trusted_proxies) } else { None }
}
