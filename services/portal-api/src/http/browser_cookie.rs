//! The cookie that identifies a known browser. It grants no access.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use identity::{KnownBrowser, Realm};

use crate::state::State;

/// The cookie of one part of the site: people may use both parts in one browser.
pub(crate) struct BrowserCookie {
    secure_name: &'static str,
    plain_name: &'static str,
}

/// Browsers of users.
const PORTAL: BrowserCookie =
    BrowserCookie { secure_name: "__Host-portal_browser", plain_name: "portal_browser" };

/// Browsers of the operator's staff.
const OPERATOR: BrowserCookie =
    BrowserCookie { secure_name: "__Host-operator_browser", plain_name: "operator_browser" };

pub(crate) fn of(realm: Realm) -> &'static BrowserCookie {
    match realm {
        Realm::User => &PORTAL,
        Realm::Staff => &OPERATOR,
    }
}

impl BrowserCookie {
    pub(crate) fn read(&self, state: &State, request: &HttpRequest) -> Option<KnownBrowser> {
        request.cookie(self.name(state)).and_then(|cookie| KnownBrowser::parse(cookie.value()))
    }

    pub(crate) fn set(&self, state: &State, browser: &KnownBrowser) -> Cookie<'static> {
        Cookie::build(self.name(state), browser.expose().to_owned())
            .path("/")
            .http_only(true)
            .same_site(SameSite::Strict)
            .secure(state.secure_cookies)
            .max_age(Duration::seconds(KnownBrowser::LASTS.num_seconds()))
            .finish()
    }

    fn name(&self, state: &State) -> &'static str {
        if state.secure_cookies { self.secure_name } else { self.plain_name }
    }
}
