//! The cookie by which a browser is known to those who logged in from it. It opens nothing.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};

use crate::app::App;
use crate::domain::KnownBrowser;

pub(super) fn read(app: &App, request: &HttpRequest) -> Option<KnownBrowser> {
    request.cookie(name(app)).and_then(|cookie| KnownBrowser::claimed(cookie.value()))
}

pub(super) fn carry(app: &App, browser: &KnownBrowser) -> Cookie<'static> {
    Cookie::build(name(app), browser.expose().to_owned())
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(app.secure_cookies)
        .max_age(Duration::seconds(KnownBrowser::LASTS.num_seconds()))
        .finish()
}

fn name(app: &App) -> &'static str {
    if app.secure_cookies { "__Host-portal_browser" } else { "portal_browser" }
}
