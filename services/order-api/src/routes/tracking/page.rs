//! The HTML pages: of a parcel, and of errors. Style and script are inline, so that one request loads the page. The
//! content security policy allows only these two, by their hashes.

use std::sync::LazyLock;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use domain::{Mode, indian_time};
use sha2::{Digest, Sha256};
use web::ApiError;

use super::view::TrackingView;

const STYLE: &str = include_str!("../../../templates/tracking.css");
const SCRIPT: &str = include_str!("../../../templates/tracking.js");

static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
});

/// The page of a parcel.
#[derive(Template)]
#[template(path = "tracking.html")]
struct Parcel<'a> {
    brand: &'a str,
    initial: String,
    style: &'static str,
    script: &'static str,
    test: bool,
    view: TrackingView,
}

impl Parcel<'_> {
    fn readable(&self, at: &DateTime<Utc>) -> String {
        indian_time(*at).format("%-d %b, %-I:%M %P IST").to_string()
    }
}

/// A page without a parcel.
#[derive(Template)]
#[template(path = "notice.html")]
struct Plain<'a> {
    brand: &'a str,
    initial: String,
    style: &'static str,
    headline: &'static str,
    detail: &'static str,
}

/// Why there is no parcel to show.
#[derive(Clone, Copy, Debug)]
pub(super) enum Notice {
    Unknown,
    TooMany,
    Unavailable,
}

pub(super) fn of_parcel(brand: &str, view: TrackingView) -> Result<HttpResponse, ApiError> {
    let test = view.mode == Mode::Test;
    let page = Parcel { brand, initial: initial(brand), style: STYLE, script: SCRIPT, test, view };
    answer(StatusCode::OK, &page)
}

impl Notice {
    pub(super) fn answer(self, status: StatusCode, brand: &str) -> Result<HttpResponse, ApiError> {
        let (headline, detail) = match self {
            Self::Unknown => (
                "We cannot find this parcel",
                "Check the link in your message: the code may be cut off. If it still does not work, ask the shop that \
                 you ordered from.",
            ),
            Self::TooMany => (
                "One moment, please",
                "There were too many requests from your connection. Wait a minute, then load this page again.",
            ),
            Self::Unavailable => (
                "We will be right back",
                "Tracking cannot answer right now. Your delivery goes on; load this page again in a moment.",
            ),
        };
        self::answer(status, &Plain { brand, initial: initial(brand), style: STYLE, headline, detail })
    }
}

fn initial(brand: &str) -> String {
    brand.trim().chars().next().map(|first| first.to_uppercase().to_string()).unwrap_or_default()
}

fn answer(status: StatusCode, page: &impl Template) -> Result<HttpResponse, ApiError> {
    let body = page.render().map_err(ApiError::internal)?;
    Ok(HttpResponse::build(status)
        .content_type("text/html; charset=utf-8")
        .insert_header((CONTENT_SECURITY_POLICY, POLICY.as_str()))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(body))
}
