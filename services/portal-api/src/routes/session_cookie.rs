//! The cookies that sessions travel in.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use chrono::{DateTime, Utc};

use crate::app::App;
use crate::domain::SessionToken;

/// The cookie of one kind of session.
pub(super) struct SessionCookie {
    /// With `__Host-`, browsers take the cookie from our own host over TLS alone, and no subdomain can plant one.
    secure_name: &'static str,
    plain_name: &'static str,
}

/// Of somebody who works for a business.
pub(super) const PORTAL: SessionCookie =
    SessionCookie { secure_name: "__Host-portal_session", plain_name: "portal_session" };

/// Of the operator's console.
pub(super) const OPERATOR: SessionCookie =
    SessionCookie { secure_name: "__Host-operator_session", plain_name: "operator_session" };

impl SessionCookie {
    /// The token that a request carries, if it has the form of one.
    pub(super) fn read(&self, app: &App, request: &HttpRequest) -> Option<SessionToken> {
        request.cookie(self.name(app)).and_then(|cookie| SessionToken::parse(cookie.value()))
    }

    /// Carries the token of a session for as long as the session lasts.
    pub(super) fn carry(&self, app: &App, token: &SessionToken, until: DateTime<Utc>) -> Cookie<'static> {
        let age = (until - app.clock.now()).num_seconds().max(0);
        self.build(app, token.expose().to_owned(), Duration::seconds(age))
    }

    /// Makes the browser forget it.
    pub(super) fn forget(&self, app: &App) -> Cookie<'static> {
        self.build(app, String::new(), Duration::ZERO)
    }

    fn build(&self, app: &App, value: String, max_age: Duration) -> Cookie<'static> {
        Cookie::build(self.name(app), value)
            .path("/")
            .http_only(true)
            .same_site(SameSite::Strict)
            .secure(app.secure_cookies)
            .max_age(max_age)
            .finish()
    }

    fn name(&self, app: &App) -> &'static str {
        if app.secure_cookies { self.secure_name } else { self.plain_name }
    }
}
