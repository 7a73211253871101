//! Spans as OpenTelemetry's semantic conventions want them: named by what is done and not by whom it is about, with a kind,
//! attributes, and a status when they fail.

use std::borrow::Cow;

use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer as _};
use opentelemetry::{Context, KeyValue, global};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::TraceContext;

/// What failed, by which failures are told apart; of few values.
const ERROR_TYPE: &str = "error.type";

/// Gives a span its name and attributes in its trace. Its kind must be a field from the beginning: `otel.kind = "server"`.
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

/// Adds to a span what is known of it only later.
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

/// One way out of this service: a call, or a message on its way to the broker. It is a span of the trace and none of the
/// logs, and ends when it is dropped. In a trace that is not recorded it costs nothing, and passes the context on.
pub struct ClientSpan {
    context: Context,
    is_recorded: bool,
}

impl ClientSpan {
    /// A call that is made in the current span.
    pub fn call(name: impl Into<Cow<'static, str>>, attributes: impl FnOnce() -> Vec<KeyValue>) -> Self {
        Self::begin(SpanKind::Client, name.into(), tracing::Span::current().context(), attributes)
    }

    /// A message that was caused in `cause`, maybe long ago.
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

    /// What the other side is to be told.
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
        // The span of a span that is not recorded is somebody else's.
        if self.is_recorded {
            self.context.span().end();
        }
    }
}
