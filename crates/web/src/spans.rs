//! The logs and traces of requests, by OpenTelemetry's conventions for HTTP. They contain no raw paths and no query
//! strings, which can hold personal data.

use std::borrow::Cow;

use domain::RequestId;
use telemetry::{KeyValue, TraceContext};
use tracing::Span;

/// The route name of requests that match no route.
pub(crate) const UNMATCHED: &str = "unmatched";

/// The platform calls these every few seconds, so they are logged at debug level and not traced.
pub(crate) fn is_probe(route: &str) -> bool {
    route.starts_with("/health/") || route == "/metrics"
}

/// The span of a request, in its caller's trace.
pub(crate) fn serving(
    id: &RequestId,
    method: &'static str,
    route: &str,
    context: Option<TraceContext>,
) -> Span {
    // The caller of an internal call is known when its token has been checked.
    let (trace_id, caller) = (tracing::field::Empty, tracing::field::Empty);
    if is_probe(route) {
        return tracing::debug_span!("request", request_id = %id, method, route);
    }
    let span = tracing::info_span!(
        "request", request_id = %id, method, route, otel.kind = "server", trace_id, caller
    );
    if let Some(context) = context {
        context.set_as_parent_of(&span);
    }
    if let Some(trace_id) = telemetry::trace_id(&span) {
        span.record("trace_id", trace_id);
    }
    telemetry::describe(&span, || {
        let name = if route == UNMATCHED { Cow::from(method) } else { format!("{method} {route}").into() };
        let route = (route != UNMATCHED).then(|| KeyValue::new("http.route", route.to_owned()));
        let attributes = [KeyValue::new("http.request.method", method), KeyValue::new("url.scheme", "http")];
        (name, attributes.into_iter().chain(route))
    });
    span
}

/// Records the status. Only 5xx is an error of the span: a refusal is the caller's error.
pub(crate) fn served(span: &Span, status: u16) {
    telemetry::record(span, || KeyValue::new("http.response.status_code", i64::from(status)));
    if status >= 500 {
        span.in_scope(|| telemetry::fail(status.to_string()));
    }
}
