//! The W3C trace context: read from requests and messages, sent with calls and messages, and stored in an outbox.

use std::collections::HashMap;

use opentelemetry::propagation::{Extractor, Injector};
use opentelemetry::trace::TraceContextExt;
use opentelemetry::{Context, global};
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The values of the headers `traceparent` and `tracestate`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TraceContext {
    pub traceparent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
}

/// The longest accepted `tracestate`, in characters. The standard requires every participant to propagate at least
/// this length. The value is stored with every event that the call causes.
const TRACESTATE_MAX: usize = 512;

impl TraceContext {
    /// A caller's trace context. Drops a `tracestate` that is too long, as the standard allows.
    pub fn received(traceparent: String, tracestate: Option<String>) -> Self {
        let tracestate = tracestate.filter(|state| state.len() <= TRACESTATE_MAX);
        Self { traceparent, tracestate }
    }

    /// The context of the current span; `None` outside of a trace.
    pub fn current() -> Option<Self> {
        Self::of(&tracing::Span::current().context())
    }

    pub(crate) fn of(context: &Context) -> Option<Self> {
        let mut headers = Headers::default();
        global::get_text_map_propagator(|propagator| propagator.inject_context(context, &mut headers));
        let traceparent = headers.0.remove("traceparent")?;
        let tracestate = headers.0.remove("tracestate").filter(|state| !state.is_empty());
        Some(Self::received(traceparent, tracestate))
    }

    /// Makes `span` a child of this context. Ignores a malformed context.
    pub fn set_as_parent_of(&self, span: &tracing::Span) {
        let parent = self.extract();
        if parent.span().span_context().is_valid() && span.set_parent(parent).is_err() {
            tracing::debug!("a started span cannot join its caller's trace");
        }
    }

    pub(crate) fn extract(&self) -> Context {
        let mut headers = Headers::default();
        headers.set("traceparent", self.traceparent.clone());
        if let Some(state) = &self.tracestate {
            headers.set("tracestate", state.clone());
        }
        // Independent of the thread's current context.
        global::get_text_map_propagator(|propagator| {
            propagator.extract_with_context(&Context::new(), &headers)
        })
    }
}

/// The trace id of a span, for log lines; `None` outside of a trace.
pub fn trace_id(span: &tracing::Span) -> Option<String> {
    let context: Context = span.context();
    let span_context = context.span().span_context().clone();
    span_context.is_valid().then(|| span_context.trace_id().to_string())
}

#[derive(Default)]
struct Headers(HashMap<String, String>);

impl Injector for Headers {
    fn set(&mut self, key: &str, value: String) {
        self.0.insert(key.to_owned(), value);
    }
}

impl Extractor for Headers {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_tracestate_is_dropped() {
        let longest = format!("a={}", "x".repeat(510));
        let received = |state: &str| TraceContext::received("00-a-b-01".to_owned(), Some(state.to_owned()));
        assert_eq!(received(&longest).tracestate, Some(longest.clone()));
        assert_eq!(received(&format!("{longest}x")).tracestate, None);
        assert_eq!(received(&format!("{longest}x")).traceparent, "00-a-b-01");
    }

    #[test]
    fn a_context_round_trips_through_headers() {
        let _telemetry = crate::init(&settings::Telemetry::default(), "test").unwrap();
        let outer = tracing::info_span!("outer");
        let sent = outer.in_scope(TraceContext::current).unwrap();
        let inner = tracing::info_span!(parent: None, "inner");
        sent.set_as_parent_of(&inner);
        assert_eq!(trace_id(&inner), trace_id(&outer));
        assert!(sent.traceparent.contains(&trace_id(&outer).unwrap()));

        let alone = tracing::info_span!(parent: None, "alone");
        TraceContext { traceparent: "nonsense".into(), tracestate: None }.set_as_parent_of(&alone);
        assert_ne!(trace_id(&alone), trace_id(&outer));
    }
}
