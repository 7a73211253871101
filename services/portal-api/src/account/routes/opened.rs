//! The response that opens a session, in either realm.

use actix_web::http::header;
use actix_web::{HttpResponse, HttpResponseBuilder};
use identity::Realm;
use web::ApiError;

use crate::account::commands::use_session::use_session;
use crate::account::commands::{OpenedSession, console_session};
use crate::account::routes::session_views::{OperatorSessionView, SessionView};
use crate::http::{browser_cookie, errors, session_cookie};
use crate::state::State;

/// The response with the session and its cookies.
pub(crate) async fn opened(
    state: &State,
    realm: Realm,
    response: &mut HttpResponseBuilder,
    opened: &OpenedSession,
) -> Result<HttpResponse, ApiError> {
    set_cookies(state, realm, response, opened);
    response.insert_header((header::CACHE_CONTROL, "no-store"));
    Ok(match realm {
        Realm::User => {
            let used = use_session(state, &opened.token, true).await?.ok_or_else(errors::not_logged_in)?;
            response.json(SessionView::of(&used.session))
        }
        Realm::Staff => {
            let found = console_session::find(state, &opened.token, true).await?;
            let session = found.ok_or_else(errors::not_logged_in)?;
            response.json(OperatorSessionView::new(state, &session).await?)
        }
    })
}

pub(crate) fn set_cookies(
    state: &State,
    realm: Realm,
    response: &mut HttpResponseBuilder,
    opened: &OpenedSession,
) {
    response.cookie(session_cookie::of(realm).set(state, &opened.token, opened.expires_at));
    if let Some(browser) = &opened.browser {
        response.cookie(browser_cookie::of(realm).set(state, browser));
    }
}
