//! Spans by OpenTelemetry's semantic conventions: named by the operation, without ids, with a kind, attributes, and a
//! status on failure.

use std::borrow::Cow;

use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer as _};
use opentelemetry::{Context, KeyValue, global};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::TraceContext;

/// The class of a failure; few values.
const ERROR_TYPE: &str = "error.type";

/// Sets a span's exported name and attributes. The span must have its kind as a field from the start: `otel.kind =
/// "server"`.
pub fn describe<A: IntoIterator<Item = KeyValue>>(
    span: &tracing::Span,
    name: impl FnOnce() -> (Cow<'static, str>, A),
) {
    let context = span.context();
    let span = context.span();
    if span.is_recording() {
        let (name, attributes) = name();
        span.update_name(name);
        span.set_attributes(attributes);
    }
}

/// Adds an attribute that becomes known later.
pub fn record(span: &tracing::Span, attribute: impl FnOnce() -> KeyValue) {
    let context = span.context();
    let span = context.span();
    if span.is_recording() {
        span.set_attribute(attribute());
    }
}

/// Marks the current span as failed.
pub fn fail(error: impl Into<Cow<'static, str>>) {
    fail_in(&tracing::Span::current().context(), error);
}

fn fail_in(context: &Context, error: impl Into<Cow<'static, str>>) {
    let span = context.span();
    if span.is_recording() {
        span.set_attribute(KeyValue::new(ERROR_TYPE, error.into()));
        span.set_status(Status::error(""));
    }
}

/// An outgoing call or message. It is a span of the trace without log lines, and ends when it is dropped. Without
/// recording it costs nothing and propagates the context.
pub struct ClientSpan {
    context: Context,
    is_recorded: bool,
}

impl ClientSpan {
    /// A call in the current span.
    pub fn call(name: impl Into<Cow<'static, str>>, attributes: impl FnOnce() -> Vec<KeyValue>) -> Self {
        Self::begin(SpanKind::Client, name.into(), tracing::Span::current().context(), attributes)
    }

    /// A message caused by `cause`, maybe long ago.
    pub fn message(
        name: impl Into<Cow<'static, str>>,
        cause: Option<&TraceContext>,
        attributes: impl FnOnce() -> Vec<KeyValue>,
    ) -> Self {
        let cause = cause.map_or_else(Context::new, TraceContext::extract);
        Self::begin(SpanKind::Producer, name.into(), cause, attributes)
    }

    fn begin(
        kind: SpanKind,
        name: Cow<'static, str>,
        parent: Context,
        attributes: impl FnOnce() -> Vec<KeyValue>,
    ) -> Self {
        let of = parent.span().span_context().clone();
        if of.is_valid() && !of.is_sampled() {
            return Self { context: parent, is_recorded: false };
        }
        let tracer = global::tracer("waybill");
        let builder = tracer.span_builder(name).with_kind(kind).with_attributes(attributes());
        let span = tracer.build_with_context(builder, &parent);
        Self { context: parent.with_span(span), is_recorded: true }
    }

    /// The context to send to the other side.
    pub fn context(&self) -> Option<TraceContext> {
        TraceContext::of(&self.context)
    }

    pub fn record(&self, attribute: KeyValue) {
        if self.is_recorded {
            self.context.span().set_attribute(attribute);
        }
    }

    pub fn fail(&self, error: impl Into<Cow<'static, str>>) {
        if self.is_recorded {
            fail_in(&self.context, error);
        }
    }
}

impl Drop for ClientSpan {
    fn drop(&mut self) {
        // Otherwise the current span belongs to someone else.
        if self.is_recorded {
            self.context.span().end();
        }
    }
}
