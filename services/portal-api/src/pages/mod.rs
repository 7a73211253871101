//! Serves the pages of the portal: `GET` of every path that is not an API call.

mod files;
mod headers;

use std::path::Path;
use std::sync::Arc;

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{StatusCode, Uri};
use actix_web::web::{Bytes, Data, ServiceConfig, get, resource};
use actix_web::{HttpRequest, HttpResponse};
use files::{PageFile, PageFiles};
use headers::PageHeaders;
use url::Url;
use web::ApiError;

use crate::domain::Site;

const FOREVER: &str = "public, max-age=31536000, immutable";
/// Browsers revalidate each time, so that a new version is used immediately. An unchanged file costs a 304.
const REVALIDATE: &str = "no-cache";

/// The loaded pages and the headers of their responses.
#[derive(Debug)]
pub(crate) struct Pages {
    files: Arc<PageFiles>,
    headers: PageHeaders,
}

impl Pages {
    /// Loads the folder; `None` if it contains no built pages.
    ///
    /// # Errors
    /// When a file cannot be read, or the folder is too large.
    pub(crate) fn load(
        folder: &Path,
        public_url: &Url,
        payment_origins: &[&str],
    ) -> anyhow::Result<Option<Self>> {
        let headers = PageHeaders::new(public_url, payment_origins);
        Ok(PageFiles::load(folder)?.map(|files| Self { files: Arc::new(files), headers }))
    }

    /// The same pages at the console's origin, which loads nothing of the payment provider.
    pub(crate) fn at(&self, console_url: &Url) -> Self {
        Self { files: self.files.clone(), headers: PageHeaders::new(console_url, &[]) }
    }

    /// Adds the route, which matches every path: call this after all other routes.
    pub(crate) fn configure(pages: Data<Self>, config: &mut ServiceConfig) {
        config.app_data(pages).service(resource("/{page:.*}").route(get().to(page)));
    }
}

async fn page(pages: Data<Pages>, site: Data<Site>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let uri: &Uri = request.uri();
    if let Some(first) = site.redirect_of(uri.path()) {
        return Ok(HttpResponse::Found().insert_header((header::LOCATION, first)).finish());
    }
    let file = pages.files.find(uri.path()).ok_or_else(|| ApiError::from_status(StatusCode::NOT_FOUND))?;
    let (encoding, content) = select_encoding(file, request.headers());
    // Caches treat each encoding as different content.
    let tag = format!("\"{}-{}\"", file.digest, encoding.unwrap_or("plain"));
    let is_served = pages.files.is_file(uri.path()) || site.has_page(uri.path());
    let is_current = is_served && has_current_tag(request.headers(), &tag);
    let mut response = match (is_served, is_current) {
        // The application shows its own message.
        (false, _) => HttpResponse::NotFound(),
        (true, true) => HttpResponse::NotModified(),
        (true, false) => HttpResponse::Ok(),
    };
    pages.headers.add_to(&mut response);
    response
        .insert_header((header::CACHE_CONTROL, if file.immutable { FOREVER } else { REVALIDATE }))
        .insert_header((header::ETAG, tag));
    if file.brotli.is_some() || file.gzip.is_some() {
        response.insert_header((header::VARY, "accept-encoding"));
    }
    if is_current {
        return Ok(response.finish());
    }
    if let Some(encoding) = encoding {
        response.insert_header((header::CONTENT_ENCODING, encoding));
    }
    Ok(response.content_type(file.content_type).body(content))
}

/// The smallest encoding that the browser accepts.
fn select_encoding(file: &PageFile, headers: &HeaderMap) -> (Option<&'static str>, Bytes) {
    match (&file.brotli, &file.gzip) {
        (Some(content), _) if accepts(headers, "br") => (Some("br"), content.clone()),
        (_, Some(content)) if accepts(headers, "gzip") => (Some("gzip"), content.clone()),
        _ => (None, file.plain.clone()),
    }
}

/// Whether the browser accepts the encoding by name (RFC 9110 §12.5.3). Plain content is always acceptable.
fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    list(headers, header::ACCEPT_ENCODING).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        named && weight.is_none_or(|weight| weight.parse::<f32>().is_ok_and(|weight| weight > 0.0))
    })
}

/// Whether the browser already has this content.
fn has_current_tag(headers: &HeaderMap, tag: &str) -> bool {
    list(headers, header::IF_NONE_MATCH).any(|given| given == "*" || given.trim_start_matches("W/") == tag)
}

/// The items of a list header, over all its lines.
fn list(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).filter_map(|line: &HeaderValue| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}
