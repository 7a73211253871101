//! The outermost layer of every listener. It gives each request an id and a span in its caller's trace, records metrics
//! by route, and gives every error a body.

use std::sync::Arc;
use std::time::Instant;

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, web};
use domain::{Clock, Entropy, RequestId};
use telemetry::TraceContext;
use tracing::Instrument;

use crate::{ApiError, spans};

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

/// The dependencies of the edge; each app holds them as `app_data`.
#[derive(Clone)]
pub struct RequestEdge {
    pub clock: Clock,
    pub entropy: Entropy,
    /// Where each error code has a page, of which this is the address without the code.
    pub error_docs: Option<Arc<str>>,
}

/// The middleware, for `actix_web::middleware::from_fn`.
///
/// # Errors
/// The response of an inner layer that refused the request.
pub async fn edge(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let begun = Instant::now();
    let (id, docs) = match request.app_data::<web::Data<RequestEdge>>() {
        Some(edge) => (RequestId::generate(&edge.clock, &edge.entropy), edge.error_docs.clone()),
        None => return Err(ApiError::internal("the listener has no RequestEdge").into()),
    };
    request.extensions_mut().insert(id);
    let as_problem = wants_problem(request.headers());
    let method = request.method().clone();
    let wants_head_only = method == Method::HEAD;
    if wants_head_only {
        // Answer HEAD like GET (RFC 9110 §9.3.2). The HTTP layer saw the HEAD and drops the body.
        request.head_mut().method = Method::GET;
    }
    let route = request.match_pattern().unwrap_or_else(|| spans::UNMATCHED.to_owned());
    let span = spans::serving(&id, method_name(&method), &route, callers_context(&request));
    let answer = |error: &ApiError| error.respond(&id.to_string(), as_problem, docs.as_deref());
    let mut outcome = match next.call(request).instrument(span.clone()).await {
        Ok(response) => {
            let response = response.map_into_boxed_body();
            Ok(match error_of(&response) {
                Some(error) => {
                    let inner_headers = response.headers().clone();
                    let mut response = response.into_response(answer(&error));
                    copy_missing_headers(response.headers_mut(), &inner_headers);
                    response
                }
                None => response,
            })
        }
        // An inner layer refused and consumed the request, so the error carries the response alone.
        Err(error) => Err(answer(&to_api_error(&error))),
    };
    let (status, headers) = match &mut outcome {
        Ok(response) => (response.status(), response.headers_mut()),
        Err(response) => (response.status(), response.headers_mut()),
    };
    let status = status.as_u16();
    if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
        headers.insert(REQUEST_ID, value);
    }
    allow_head(headers);
    set_security_headers(headers);
    if wants_head_only {
        outcome = outcome.map(without_stream);
    }
    record(&span, method_name(&method), &route, status, begun);
    outcome.map_err(|response| InternalError::from_response("refused", response).into())
}

/// Keeps the headers of inner layers, such as rate limits, on error responses.
fn copy_missing_headers(headers: &mut HeaderMap, inner_headers: &HeaderMap) {
    let inner: Vec<_> = inner_headers.iter().filter(|(name, _)| !headers.contains_key(*name)).collect();
    for (name, value) in inner {
        headers.append(name.clone(), value.clone());
    }
}

/// For everything that is no page: if a browser shows it as one, it runs nothing and appears in no frame.
pub(crate) const NO_PAGE: &str = "default-src 'none'; frame-ancestors 'none'";

/// Browsers must not guess the content type. Caches must not store a response unless its route allows it. Pages have a policy of
/// their own.
fn set_security_headers(headers: &mut HeaderMap) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(NO_PAGE));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// The router lists the methods of a route in its 405 response; GET implies HEAD.
fn allow_head(headers: &mut HeaderMap) {
    let Some(allowed) = headers.get(header::ALLOW).and_then(|allowed| allowed.to_str().ok()) else { return };
    let has = |method: &str| allowed.split(',').any(|one| one.trim() == method);
    if has("GET")
        && !has("HEAD")
        && let Ok(allowed) = HeaderValue::try_from(format!("{allowed}, HEAD"))
    {
        headers.insert(header::ALLOW, allowed);
    }
}

/// Drops a stream, because HEAD has no body. A body of known length stays for its Content-Length.
fn without_stream(response: ServiceResponse<BoxBody>) -> ServiceResponse<BoxBody> {
    match response.response().body().size() {
        BodySize::Stream => response.map_body(|_, _| BoxBody::new(())),
        BodySize::None | BodySize::Sized(_) => response,
    }
}

fn to_api_error(error: &Error) -> ApiError {
    match error.as_error::<ApiError>() {
        Some(error) => error.clone(),
        None => ApiError::from_status(error.as_response_error().status_code()),
    }
}

/// The error of a response that has no error body yet.
fn error_of(response: &ServiceResponse<BoxBody>) -> Option<ApiError> {
    let status = response.status();
    if let Some(error) = response.response().error() {
        return Some(to_api_error(error));
    }
    let bare = !response.headers().contains_key(header::CONTENT_TYPE);
    let is_error = status.is_client_error() || status.is_server_error();
    let requested = response.request().path();
    let path = requested.trim_end_matches('/');
    let has_trailing_slash = status == StatusCode::NOT_FOUND && !path.is_empty() && path != requested;
    (is_error && bare)
        .then(|| if has_trailing_slash { trailing_slash(path) } else { ApiError::from_status(status) })
}

fn trailing_slash(path: &str) -> ApiError {
    // Truncated, so that the response is never much larger than the request.
    let path: String = path.chars().take(200).collect();
    let message = format!("There is nothing at this address. Remove the slash at the end: {path}.");
    ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
}

/// Whether the caller wants errors in the format of RFC 9457: `Accept` names `application/problem+json` with at least
/// the weight of plain JSON. An error is always JSON, whatever else `Accept` lists, so that the caller can read the
/// reason.
fn wants_problem(headers: &HeaderMap) -> bool {
    let weight_of = |wanted: &str| {
        let accepted = headers.get_all(header::ACCEPT).filter_map(|accept| accept.to_str().ok());
        let ranges = accepted.flat_map(|accept| accept.split(',')).filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(wanted));
            let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
            named.then(|| weight.map_or(1.0, |weight| weight.parse::<f32>().unwrap_or(0.0)))
        });
        ranges.fold(0.0, f32::max)
    };
    let problem = weight_of("application/problem+json");
    problem > 0.0 && problem >= weight_of("application/json")
}

fn callers_context(request: &ServiceRequest) -> Option<TraceContext> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Some(TraceContext::received(text("traceparent")?, text("tracestate")))
}

/// Callers can send any method name, so metrics and traces use one name for all unknown methods.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::CONNECT => "CONNECT",
        Method::TRACE => "TRACE",
        _ => "_OTHER",
    }
}

fn record(span: &tracing::Span, method: &'static str, route: &str, status: u16, begun: Instant) {
    let seconds = begun.elapsed().as_secs_f64();
    let labels = [("method", method.to_owned()), ("route", route.to_owned()), ("status", status.to_string())];
    spans::served(span, status);
    metrics::counter!("http_requests_total", &labels).increment(1);
    metrics::histogram!("http_request_duration_seconds", &labels[..2]).record(seconds);
    let duration_ms = (seconds * 1_000.0).round();
    span.in_scope(|| match status {
        // A failed check is logged with its reason.
        _ if spans::is_probe(route) => tracing::debug!(status, duration_ms, "request answered"),
        500.. => tracing::warn!(status, duration_ms, "request answered"),
        _ => tracing::info!(status, duration_ms, "request answered"),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_details_are_sent_on_request() {
        for (accept, expected) in [
            (&["application/problem+json"][..], true),
            (&["Application/Problem+JSON;q=0.5"], true),
            (&["application/json, application/problem+json"], true),
            (&["text/html", "application/problem+json"], true),
            (&["application/json, application/problem+json;q=0.9"], false),
            (&["application/problem+json;q=0"], false),
            (&["application/problem+json; q=nonsense"], false),
            (&["application/problem+jsonx"], false),
            (&["application/json"], false),
            (&["text/html"], false),
            (&["*/*"], false),
            (&[], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in accept {
                headers.append(header::ACCEPT, HeaderValue::from_static(value));
            }
            assert_eq!(wants_problem(&headers), expected, "{accept:?}");
        }
    }

    #[test]
    fn get_implies_head() {
        for (given, expected) in [
            ("GET", "GET, HEAD"),
            ("POST, GET", "POST, GET, HEAD"),
            ("POST", "POST"),
            ("GET, HEAD", "GET, HEAD"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ALLOW, HeaderValue::from_static(given));
            allow_head(&mut headers);
            assert_eq!(headers.get(header::ALLOW).unwrap(), expected);
        }
    }
}
