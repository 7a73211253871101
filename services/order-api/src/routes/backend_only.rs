//! The integration API is for backends (SPECIFICATION §1.7, §5.2): a call from a web page shows its API key to
//! everyone.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::Error;
use actix_web::http::StatusCode;
use actix_web::http::header::{ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderName, ORIGIN};
use actix_web::middleware::Next;
use web::ApiError;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_USER: HeaderName = HeaderName::from_static("sec-fetch-user");

/// Middleware: refuses requests of browsers with 403, including preflights, before all other checks. No response has
/// CORS headers, so a page cannot read one.
///
/// # Errors
/// Those of the inner handlers.
pub(super) async fn refuse_browsers(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<EitherBody<impl MessageBody + 'static>>, Error> {
    if is_from_browser(request.headers()) {
        tracing::info!("refused a request from a browser");
        return Ok(request.error_response(from_browser()).map_into_right_body());
    }
    Ok(next.call(request).await?.map_into_left_body())
}

pub(super) fn from_browser() -> ApiError {
    let message = "Call this API from your backend only. This request came from a browser, which shows your API key \
                   to everyone: have the page call your own server, let that call this API, and replace the key.";
    ApiError::new(StatusCode::FORBIDDEN, "backend_only", message)
}

/// Browsers describe the origin of a request in Fetch Metadata headers (W3C), which scripts cannot set:
///
/// - `Sec-Fetch-Site`, with any value: only browsers send it, `none` for an address that the user typed.
/// - `Sec-Fetch-User`: a user's click.
/// - `Sec-Fetch-Mode: navigate` and `websocket`: no `fetch` of a server-side runtime sends these. Other modes prove
///   nothing: Node.js (undici) sends `Sec-Fetch-Mode: cors` by default, without the other headers
///   (nodejs/undici#1305), and its caller may choose `no-cors` or `same-origin`.
/// - `Origin`: browsers send it with each cross-origin request that can have an `Authorization` header, also over plain
///   HTTP, where they omit `Sec-Fetch-*`.
/// - `Access-Control-Request-Method`: the preflight of such a request.
fn is_from_browser(headers: &HeaderMap) -> bool {
    let conclusive = [SEC_FETCH_SITE, SEC_FETCH_USER, ORIGIN, ACCESS_CONTROL_REQUEST_METHOD];
    let mode = headers.get(SEC_FETCH_MODE).map(|mode| mode.as_bytes().trim_ascii());
    conclusive.iter().any(|name| headers.contains_key(name))
        || mode.is_some_and(|mode| {
            mode.eq_ignore_ascii_case(b"navigate") || mode.eq_ignore_ascii_case(b"websocket")
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    fn headers(given: &[(&'static str, &'static str)]) -> HeaderMap {
        given
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn browsers_and_backends_are_distinguished() {
        let fetch_of_a_page = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors")];
        for browser in [
            &fetch_of_a_page[..],
            &[("sec-fetch-site", "same-origin")],
            &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), ("sec-fetch-user", "?1")],
            &[("sec-fetch-mode", "navigate")],
            &[("origin", "http://shop.example")],
            &[("origin", "null")],
            &[("access-control-request-method", "POST")],
        ] {
            assert!(is_from_browser(&headers(browser)), "{browser:?}");
        }
        let node = [("sec-fetch-mode", "cors"), ("accept-language", "*"), ("user-agent", "node")];
        for backend in
            [&[][..], &node, &[("user-agent", "curl/8.5.0")], &[("referer", "http://shop.example/")]]
        {
            assert!(!is_from_browser(&headers(backend)), "{backend:?}");
        }
    }
}
