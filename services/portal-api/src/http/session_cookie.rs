//! The session cookies.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use chrono::{DateTime, Utc};
use identity::{Realm, SessionToken};

use crate::state::State;

/// The cookie of one kind of session.
pub(crate) struct SessionCookie {
    /// Browsers accept a `__Host-` cookie only over TLS and only from the host itself, not from subdomains.
    secure_name: &'static str,
    plain_name: &'static str,
}

/// Sessions of users.
pub(crate) const PORTAL: SessionCookie =
    SessionCookie { secure_name: "__Host-portal_session", plain_name: "portal_session" };

/// Sessions of the operator's console.
pub(crate) const OPERATOR: SessionCookie =
    SessionCookie { secure_name: "__Host-operator_session", plain_name: "operator_session" };

/// Log-ins of users that wait for the second factor.
const PORTAL_CHALLENGE: SessionCookie =
    SessionCookie { secure_name: "__Host-portal_challenge", plain_name: "portal_challenge" };

/// Log-ins of the operator's staff that wait for the second factor.
const OPERATOR_CHALLENGE: SessionCookie =
    SessionCookie { secure_name: "__Host-operator_challenge", plain_name: "operator_challenge" };

/// Log-ins of the operator's staff that are at the identity provider.
pub(crate) const OPERATOR_SSO: SessionCookie =
    SessionCookie { secure_name: "__Host-operator_sso", plain_name: "operator_sso" };

/// Log-ins of users that are at the identity provider of their business.
pub(crate) const PORTAL_SSO: SessionCookie =
    SessionCookie { secure_name: "__Host-portal_sso", plain_name: "portal_sso" };

pub(crate) fn of(realm: Realm) -> &'static SessionCookie {
    match realm {
        Realm::User => &PORTAL,
        Realm::Staff => &OPERATOR,
    }
}

/// The cookie of log-ins that wait for the second factor.
pub(crate) fn of_challenge(realm: Realm) -> &'static SessionCookie {
    match realm {
        Realm::User => &PORTAL_CHALLENGE,
        Realm::Staff => &OPERATOR_CHALLENGE,
    }
}

impl SessionCookie {
    /// The token of a request, if it is well-formed.
    pub(crate) fn read(&self, state: &State, request: &HttpRequest) -> Option<SessionToken> {
        request.cookie(self.name(state)).and_then(|cookie| SessionToken::parse(cookie.value()))
    }

    /// Sets the token until the session ends.
    pub(crate) fn set(&self, state: &State, token: &SessionToken, until: DateTime<Utc>) -> Cookie<'static> {
        let age = (until - state.unit.clock.now()).num_seconds().max(0);
        self.build(state, token.expose().to_owned(), Duration::seconds(age))
    }

    /// Deletes the cookie.
    pub(crate) fn clear(&self, state: &State) -> Cookie<'static> {
        self.build(state, String::new(), Duration::ZERO)
    }

    fn build(&self, state: &State, value: String, max_age: Duration) -> Cookie<'static> {
        Cookie::build(self.name(state), value)
            .path("/")
            .http_only(true)
            .same_site(SameSite::Strict)
            .secure(state.secure_cookies)
            .max_age(max_age)
            .finish()
    }

    fn name(&self, state: &State) -> &'static str {
        if state.secure_cookies { self.secure_name } else { self.plain_name }
    }
}
