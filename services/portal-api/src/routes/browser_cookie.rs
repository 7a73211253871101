//! The cookie that identifies a known browser. It grants no access.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};

use crate::domain::KnownBrowser;
use crate::state::State;

pub(super) fn read(state: &State, request: &HttpRequest) -> Option<KnownBrowser> {
    request.cookie(name(state)).and_then(|cookie| KnownBrowser::parse(cookie.value()))
}

pub(super) fn set(state: &State, browser: &KnownBrowser) -> Cookie<'static> {
    Cookie::build(name(state), browser.expose().to_owned())
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(state.secure_cookies)
        .max_age(Duration::seconds(KnownBrowser::LASTS.num_seconds()))
        .finish()
}

fn name(state: &State) -> &'static str {
    if state.secure_cookies { "__Host-portal_browser" } else { "portal_browser" }
}
