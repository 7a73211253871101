//! Where a request comes from, for the limits per address.

use actix_web::HttpRequest;

use crate::app::App;
use crate::domain::Address;

/// `None` when addresses are not counted. A proxy that should have named the client and did not is the client.
pub(super) fn counted_address(app: &App, request: &HttpRequest) -> Option<Address> {
    if !app.limits.per_address {
        return None;
    }
    let named = app.limits.address_header.as_ref().and_then(|name| {
        let value = request.headers().get_all(name.as_str()).last()?.to_str().ok()?;
        Address::from_header(value)
    });
    named.or_else(|| request.peer_addr().map(|peer| Address::new(peer.ip())))
}
