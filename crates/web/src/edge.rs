//! The outermost layer of every listener: gives each request an id and a span in its caller's trace, counts and times
//! it by route, and gives every error its body.

use std::time::Instant;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, web};
use domain::{Clock, Entropy, RequestId};
use telemetry::TraceContext;
use tracing::Instrument;

use crate::ApiError;

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

/// What the edge needs; put into each app as `app_data`.
#[derive(Clone)]
pub struct RequestEdge {
    pub clock: Clock,
    pub entropy: Entropy,
}

/// The middleware, for `actix_web::middleware::from_fn`.
///
/// # Errors
/// What an inner layer refused, as the response it is to be.
pub async fn edge(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let begun = Instant::now();
    let id = match request.app_data::<web::Data<RequestEdge>>() {
        Some(edge) => RequestId::generate(&edge.clock, &edge.entropy),
        None => return Err(ApiError::internal("the listener has no RequestEdge").into()),
    };
    request.extensions_mut().insert(id);
    let as_problem = wants_problem(&request);
    let method = request.method().clone();
    let route = request.match_pattern().unwrap_or_else(|| "unmatched".to_owned());
    let span =
        tracing::info_span!("request", request_id = %id, %method, route, trace_id = tracing::field::Empty);
    if let Some(caller) = callers_context(&request) {
        caller.set_as_parent_of(&span);
    }
    if let Some(trace_id) = telemetry::trace_id(&span) {
        span.record("trace_id", trace_id);
    }
    let answer = |error: &ApiError| error.respond(&id.to_string(), as_problem);
    let mut outcome = match next.call(request).instrument(span.clone()).await {
        Ok(response) => {
            let response = response.map_into_boxed_body();
            Ok(match error_of(&response) {
                Some(error) => {
                    let beside = response.headers().clone();
                    let mut response = response.into_response(answer(&error));
                    keep(response.headers_mut(), &beside);
                    response
                }
                None => response,
            })
        }
        // An inner layer refused. Its request is gone, and none may be kept beside it, so the response travels alone.
        Err(error) => Err(answer(&ours(&error))),
    };
    let (status, headers) = match &mut outcome {
        Ok(response) => (response.status(), response.headers_mut()),
        Err(response) => (response.status(), response.headers_mut()),
    };
    if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
        headers.insert(REQUEST_ID, value);
    }
    record(&span, method.as_str(), &route, status.as_u16(), begun);
    outcome.map_err(|response| InternalError::from_response("refused", response).into())
}

/// What inner layers say beside the body (a rate limit, for one) is said of errors, too.
fn keep(headers: &mut HeaderMap, beside: &HeaderMap) {
    let inner: Vec<_> = beside.iter().filter(|(name, _)| !headers.contains_key(*name)).collect();
    for (name, value) in inner {
        headers.append(name.clone(), value.clone());
    }
}

fn ours(error: &Error) -> ApiError {
    match error.as_error::<ApiError>() {
        Some(error) => error.clone(),
        None => ApiError::from_status(error.as_response_error().status_code()),
    }
}

/// The error behind a response, if it has no body of ours yet.
fn error_of(response: &ServiceResponse<BoxBody>) -> Option<ApiError> {
    let status = response.status();
    if let Some(error) = response.response().error() {
        return Some(ours(error));
    }
    let bare = !response.headers().contains_key(header::CONTENT_TYPE);
    ((status.is_client_error() || status.is_server_error()) && bare).then(|| ApiError::from_status(status))
}

fn wants_problem(request: &ServiceRequest) -> bool {
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.contains("application/problem+json"))
}

fn callers_context(request: &ServiceRequest) -> Option<TraceContext> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Some(TraceContext { traceparent: text("traceparent")?, tracestate: text("tracestate") })
}

fn record(span: &tracing::Span, method: &str, route: &str, status: u16, begun: Instant) {
    let seconds = begun.elapsed().as_secs_f64();
    let labels = [("method", method.to_owned()), ("route", route.to_owned()), ("status", status.to_string())];
    metrics::counter!("http_requests_total", &labels).increment(1);
    metrics::histogram!("http_request_duration_seconds", &labels[..2]).record(seconds);
    let duration_ms = (seconds * 1_000.0).round();
    let asked_all_the_time = route.starts_with("/health/") || route == "/metrics";
    span.in_scope(|| match status {
        500.. => tracing::warn!(status, duration_ms, "answered"),
        _ if asked_all_the_time => tracing::debug!(status, duration_ms, "answered"),
        _ => tracing::info!(status, duration_ms, "answered"),
    });
}
