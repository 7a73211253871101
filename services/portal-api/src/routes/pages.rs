//! `GET /` and whatever is no call: the portal's pages.

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{StatusCode, Uri};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use web::ApiError;

use crate::app::App;
use crate::pages::PageFile;
use crate::settings::Pages as PagesSettings;

const FOREVER: &str = "public, max-age=31536000, immutable";
/// Asked for again each time, so that a new version is seen at once; unchanged, it costs a 304.
const ASK_AGAIN: &str = "no-cache";
/// A year. Not for subdomains, which are the operator's to decide about.
const ONLY_OVER_TLS: &str = "max-age=31536000";

/// What browsers are told beside each page.
#[derive(Clone, Debug)]
pub(crate) struct PageHeaders {
    content_security_policy: String,
    only_over_tls: bool,
}

impl PageHeaders {
    /// Everything from our own origin and nothing inline. Styles are the exception: the component library sets some on
    /// its elements while it runs. A payment provider's page comes from its own origin, if the operator names one.
    pub(crate) fn new(public: &url::Url, settings: &PagesSettings) -> Self {
        let payment: String = settings.payment_origins().map(|origin| format!(" {origin}")).collect();
        let frames = if payment.is_empty() { " 'none'" } else { payment.as_str() };
        Self {
            content_security_policy: format!(
                "default-src 'none'; script-src 'self'{payment}; style-src 'self' 'unsafe-inline'; \
                 img-src 'self' data:{payment}; font-src 'self'; connect-src 'self'{payment}; frame-src{frames}; \
                 manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
            ),
            only_over_tls: public.scheme() == "https",
        }
    }

    fn add_to(&self, response: &mut HttpResponseBuilder) {
        response
            .insert_header((header::CONTENT_SECURITY_POLICY, self.content_security_policy.as_str()))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .insert_header((header::REFERRER_POLICY, "no-referrer"))
            // For browsers that know no frame-ancestors.
            .insert_header((header::X_FRAME_OPTIONS, "DENY"))
            .insert_header((
                HeaderName::from_static("cross-origin-opener-policy"),
                "same-origin-allow-popups",
            ))
            .insert_header((HeaderName::from_static("cross-origin-resource-policy"), "same-origin"));
        if self.only_over_tls {
            response.insert_header((header::STRICT_TRANSPORT_SECURITY, ONLY_OVER_TLS));
        }
    }
}

pub(super) async fn page(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let uri: &Uri = request.uri();
    let file = app.pages.as_ref().and_then(|pages| pages.find(uri.path()));
    let file = file.ok_or_else(|| ApiError::from_status(StatusCode::NOT_FOUND))?;
    let (encoding, content) = chosen(file, request.headers());
    // Each encoding is a content of its own to caches.
    let tag = format!("\"{}-{}\"", file.digest, encoding.unwrap_or("plain"));
    let known = asks_whether_changed(request.headers(), &tag);
    let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    app.page_headers.add_to(&mut response);
    response
        .insert_header((header::CACHE_CONTROL, if file.immutable { FOREVER } else { ASK_AGAIN }))
        .insert_header((header::ETAG, tag));
    if file.brotli.is_some() || file.gzip.is_some() {
        response.insert_header((header::VARY, "accept-encoding"));
    }
    if known {
        return Ok(response.finish());
    }
    if let Some(encoding) = encoding {
        response.insert_header((header::CONTENT_ENCODING, encoding));
    }
    Ok(response.content_type(file.content_type).body(content))
}

/// The smallest form that the browser takes.
fn chosen(file: &PageFile, headers: &HeaderMap) -> (Option<&'static str>, Bytes) {
    match (&file.brotli, &file.gzip) {
        (Some(content), _) if accepts(headers, "br") => (Some("br"), content.clone()),
        (_, Some(content)) if accepts(headers, "gzip") => (Some("gzip"), content.clone()),
        _ => (None, file.plain.clone()),
    }
}

/// Whether an encoding is accepted by name (RFC 9110 §12.5.3); plain content is always there for everybody else.
fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    list(headers, header::ACCEPT_ENCODING).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        named && weight.is_none_or(|weight| weight.parse::<f32>().is_ok_and(|weight| weight > 0.0))
    })
}

fn asks_whether_changed(headers: &HeaderMap, tag: &str) -> bool {
    list(headers, header::IF_NONE_MATCH).any(|given| given == "*" || given.trim_start_matches("W/") == tag)
}

/// The members of a header that is a list, over all its lines.
fn list(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).filter_map(|line: &HeaderValue| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}
