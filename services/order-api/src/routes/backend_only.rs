//! The integration API is for back ends (SPECIFICATION §1.7, §5.2): a call from a page shows its API key to everyone who
//! opens the page.

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

/// Middleware: 403 for what a browser sent, its preflights included, before anything else is looked at. There are no
/// CORS headers anywhere, so that a page could not read an answer either.
///
/// # Errors
/// Those of the handlers behind it.
pub(super) async fn refuse_browsers(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<EitherBody<impl MessageBody + 'static>>, Error> {
    if is_from_browser(request.headers()) {
        tracing::info!("refused a call from a browser");
        return Ok(request.error_response(from_browser()).map_into_right_body());
    }
    Ok(next.call(request).await?.map_into_left_body())
}

pub(super) fn from_browser() -> ApiError {
    let message = "Call this API from your backend only. This request came from a browser, which shows your API key \
                   to everyone: have the page call your own server, let that call this API, and replace the key.";
    ApiError::new(StatusCode::FORBIDDEN, "backend_only", message)
}

/// Fetch Metadata (W3C) has browsers say where a request comes from, in headers that no script may set:
///
/// - `Sec-Fetch-Site`, with any value: the relation of two sites exists only where there is a page or an address bar,
///   and `none`, too, is what a browser says (of an address that its user typed).
/// - `Sec-Fetch-User`: a user's click.
/// - `Sec-Fetch-Mode: navigate` and `websocket`: no `fetch` of a server-side runtime can have these. The other modes
///   say nothing by themselves: Node.js (undici) puts its default `Sec-Fetch-Mode: cors` on each `fetch` of a back
///   end, without any other of these headers (nodejs/undici#1305), and lets its caller choose `no-cors` or `same-origin`.
/// - `Origin`, which browsers put on every cross-origin call that can carry an `Authorization` header, over plain HTTP
///   as well, where they leave `Sec-Fetch-*` out.
/// - `Access-Control-Request-Method`, in the preflight of such a call.
fn is_from_browser(headers: &HeaderMap) -> bool {
    let told = [SEC_FETCH_SITE, SEC_FETCH_USER, ORIGIN, ACCESS_CONTROL_REQUEST_METHOD];
    let mode = headers.get(SEC_FETCH_MODE).map(|mode| mode.as_bytes().trim_ascii());
    told.iter().any(|name| headers.contains_key(name))
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
    fn browsers_are_told_from_back_ends() {
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
        for back_end in
            [&[][..], &node, &[("user-agent", "curl/8.5.0")], &[("referer", "http://shop.example/")]]
        {
            assert!(!is_from_browser(&headers(back_end)), "{back_end:?}");
        }
    }
}
