//! Traces of messages, by OpenTelemetry's conventions for messaging.

use std::borrow::Cow;

use lapin::message::Delivery;
use telemetry::{ClientSpan, KeyValue};

use crate::message::{self, Outgoing};

fn system() -> KeyValue {
    KeyValue::new("messaging.system", "rabbitmq")
}

/// The span of publishing a message. The default exchange, without a name, publishes directly to a queue.
pub(crate) fn publishing(exchange: &str, message: &Outgoing) -> ClientSpan {
    let destination = if exchange.is_empty() { &message.routing_key } else { exchange };
    ClientSpan::message(format!("publish {destination}"), message.trace.as_ref(), || {
        vec![
            system(),
            KeyValue::new("messaging.operation.name", "publish"),
            KeyValue::new("messaging.operation.type", "send"),
            KeyValue::new("messaging.destination.name", destination.to_owned()),
            KeyValue::new("messaging.rabbitmq.destination.routing_key", message.routing_key.clone()),
            KeyValue::new("messaging.message.id", message.message_id.clone()),
            size(message.body.len()),
        ]
    })
}

/// The span of handling a message, in the publisher's trace.
pub(crate) fn processing(queue: &'static str, delivery: &Delivery) -> tracing::Span {
    let id = message::message_id(&delivery.properties);
    let span = tracing::info_span!(
        "consume",
        queue,
        message_id = %id,
        otel.kind = "consumer",
        trace_id = tracing::field::Empty,
    );
    if let Some(trace) = message::trace(&delivery.properties) {
        trace.set_as_parent_of(&span);
    }
    if let Some(trace_id) = telemetry::trace_id(&span) {
        span.record("trace_id", trace_id);
    }
    telemetry::describe(&span, || {
        let attributes = [
            system(),
            KeyValue::new("messaging.operation.name", "process"),
            KeyValue::new("messaging.operation.type", "process"),
            KeyValue::new("messaging.destination.name", queue),
            KeyValue::new("messaging.rabbitmq.destination.routing_key", delivery.routing_key.to_string()),
            KeyValue::new("messaging.message.id", id.to_owned()),
            size(delivery.data.len()),
        ];
        (Cow::from(format!("process {queue}")), attributes)
    });
    span
}

fn size(bytes: usize) -> KeyValue {
    KeyValue::new("messaging.message.body.size", i64::try_from(bytes).unwrap_or(i64::MAX))
}
