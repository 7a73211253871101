//! The cookie that a session travels in.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};

use crate::app::App;
use crate::commands::Opened;
use crate::domain::SessionToken;

/// With `__Host-`, browsers take the cookie from our own host over TLS alone, and no subdomain can plant one.
const SECURE_NAME: &str = "__Host-portal_session";
const PLAIN_NAME: &str = "portal_session";

/// The token that a request carries, if it has the form of one.
pub(super) fn read(app: &App, request: &HttpRequest) -> Option<SessionToken> {
    request.cookie(name(app)).and_then(|cookie| SessionToken::parse(cookie.value()))
}

/// The cookie of a session that was just opened. It stays as long as a session can; the server ends it sooner.
pub(super) fn open(app: &App, opened: &Opened) -> Cookie<'static> {
    build(app, opened.token.expose().to_owned(), Duration::days(30))
}

/// Makes the browser forget it.
pub(super) fn forget(app: &App) -> Cookie<'static> {
    build(app, String::new(), Duration::ZERO)
}

fn build(app: &App, value: String, max_age: Duration) -> Cookie<'static> {
    Cookie::build(name(app), value)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(app.secure_cookies)
        .max_age(max_age)
        .finish()
}

fn name(app: &App) -> &'static str {
    if app.secure_cookies { SECURE_NAME } else { PLAIN_NAME }
}
