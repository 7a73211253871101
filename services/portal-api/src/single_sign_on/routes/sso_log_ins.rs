//! What single sign-on of the staff and of businesses have in common: the parameters that a provider adds to the page's URL, and
//! the responses.

use actix_web::HttpResponse;
use actix_web::http::header;
use chrono::{DateTime, Utc};
use identity::SessionToken;
use identity::single_sign_on::{SsoResponse, SsoResult};
use serde::Serialize;
use web::{Fields, TextRule};

use crate::http::session_cookie::SessionCookie;
use crate::single_sign_on::commands::start_sso::StartedSso;
use crate::state::State;

/// Longer than the codes of known providers.
const CODE_TEXT: TextRule = TextRule::line(8_192);
const STATE_TEXT: TextRule = TextRule::line(200);
const ISSUER_TEXT: TextRule = TextRule::line(2_048);

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SsoLogInView {
    /// The page of the identity provider.
    pub(crate) url: String,
    pub(crate) expires_at: DateTime<Utc>,
}

/// The browser goes to the provider with the cookie of the log-in.
pub(crate) fn started(state: &State, cookie: &SessionCookie, started: StartedSso) -> HttpResponse {
    HttpResponse::Created()
        .cookie(cookie.set(state, &started.token, started.expires_at))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(SsoLogInView { url: started.url.into(), expires_at: started.expires_at })
}

/// The cookie of the log-in ends, and the session with its new token gets a new cookie.
pub(crate) fn confirmed(
    state: &State,
    (log_in, session): (&SessionCookie, &SessionCookie),
    (token, expires_at): (&SessionToken, DateTime<Utc>),
) -> HttpResponse {
    let session = session.set(state, token, expires_at);
    HttpResponse::NoContent().cookie(session).cookie(log_in.clear(state)).finish()
}

/// What the provider has added to the URL: `code`, or `error`.
pub(crate) fn response_fields(fields: &Fields<'_>) -> Option<SsoResponse> {
    let state = fields.required_text("state", STATE_TEXT);
    let issuer = fields.optional_text("iss", ISSUER_TEXT);
    let result = match (fields.value("error"), fields.value("code")) {
        (Some(_), None) => Some(SsoResult::Declined),
        (Some(_), Some(_)) => {
            fields.reject("error", "invalid_value", "error is not allowed together with code.");
            None
        }
        _ => fields.required_text("code", CODE_TEXT).map(SsoResult::Code),
    };
    Some(SsoResponse { state: state?, issuer, result: result? })
}
