//! The format of a message: JSON, persistent, the event's id as message id, the trace context in headers.

use events::Envelope;
use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldTable, ShortString};
use telemetry::TraceContext;

const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";
/// The time at which the handler first failed unexpectedly, in Unix seconds.
const FAILING_SINCE: &str = "failing-since";
/// What RabbitMQ adds to dead letters.
const DEAD_LETTERED: &str = "x-death";
/// True if the event may have been published before.
const PUBLISHED_AGAIN: &str = "published-again";
const PERSISTENT: u8 = 2;

/// A message to publish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    pub routing_key: String,
    pub message_id: String,
    /// JSON.
    pub body: Vec<u8>,
    /// The trace context of the event's cause.
    pub trace: Option<TraceContext>,
}

/// Whether a message may have been published before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Publication {
    First,
    Again,
    /// A copy of a received message.
    Renewed {
        /// In Unix seconds.
        failing_since: Option<i64>,
    },
}

impl Outgoing {
    /// The message of an event, without a trace context.
    ///
    /// # Errors
    /// When the event cannot be written as JSON.
    pub fn of(envelope: &Envelope) -> Result<Self, serde_json::Error> {
        Ok(Self {
            routing_key: envelope.routing_key().as_str().to_owned(),
            message_id: envelope.id.to_string(),
            body: serde_json::to_vec(envelope)?,
            trace: None,
        })
    }

    /// The trace context is that of the publishing span, so that the consumer continues its trace.
    pub(crate) fn properties(
        &self,
        trace: Option<&TraceContext>,
        publication: Publication,
    ) -> BasicProperties {
        let mut headers = FieldTable::default();
        if publication != Publication::First {
            headers.insert(PUBLISHED_AGAIN.into(), AMQPValue::Boolean(true));
        }
        if let Publication::Renewed { failing_since: Some(since) } = publication {
            headers.insert(FAILING_SINCE.into(), AMQPValue::LongLongInt(since));
        }
        if let Some(trace) = trace {
            headers.insert(TRACEPARENT.into(), AMQPValue::LongString(trace.traceparent.as_str().into()));
            if let Some(state) = &trace.tracestate {
                headers.insert(TRACESTATE.into(), AMQPValue::LongString(state.as_str().into()));
            }
        }
        BasicProperties::default()
            .with_content_type("application/json".into())
            .with_delivery_mode(PERSISTENT)
            .with_message_id(short(&self.message_id))
            .with_headers(headers)
    }
}

/// The trace context of a received message.
pub(crate) fn trace(properties: &BasicProperties) -> Option<TraceContext> {
    let headers = properties.headers().as_ref()?;
    Some(TraceContext::received(text(headers, TRACEPARENT)?, text(headers, TRACESTATE)))
}

/// Whether a received message may have been published before.
pub(crate) fn is_published_again(properties: &BasicProperties) -> bool {
    let headers = properties.headers().as_ref();
    headers.is_some_and(|headers| headers.inner().get(PUBLISHED_AGAIN) == Some(&AMQPValue::Boolean(true)))
}

/// Since when the handling of a received message fails unexpectedly, in Unix seconds.
pub(crate) fn failing_since(properties: &BasicProperties) -> Option<i64> {
    let headers = properties.headers().as_ref()?.inner();
    match headers.get(FAILING_SINCE)? {
        // It was a dead letter, and somebody has moved it back: its time begins again.
        _ if headers.contains_key(DEAD_LETTERED) => None,
        AMQPValue::LongLongInt(since) => Some(*since),
        _ => None,
    }
}

/// The id of a received message, for logs.
pub(crate) fn message_id(properties: &BasicProperties) -> &str {
    properties.message_id().as_ref().map_or("none", ShortString::as_str)
}

fn text(headers: &FieldTable, name: &str) -> Option<String> {
    match headers.inner().get(name)? {
        AMQPValue::LongString(value) => String::from_utf8(value.as_bytes().to_vec()).ok(),
        AMQPValue::ShortString(value) => Some(value.as_str().to_owned()),
        _ => None,
    }
}

/// AMQP's short strings have at most 255 bytes. Longer texts are not from Waybill and are omitted.
pub(crate) fn short(text: &str) -> ShortString {
    ShortString::try_new(text).unwrap_or_else(|_| "".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_and_the_id_round_trip() {
        let sent = TraceContext { traceparent: "00-a-b-01".into(), tracestate: Some("x=y".into()) };
        let outgoing = Outgoing {
            routing_key: "live.order.created".into(),
            message_id: "evt_1".into(),
            body: b"{}".to_vec(),
            trace: Some(sent.clone()),
        };
        let properties = outgoing.properties(outgoing.trace.as_ref(), Publication::First);
        assert_eq!(trace(&properties), Some(sent));
        assert_eq!(message_id(&properties), "evt_1");
        assert!(!is_published_again(&properties));
        let again = outgoing.properties(None, Publication::Again);
        assert_eq!((trace(&again), is_published_again(&again)), (None, true));
        assert_eq!(failing_since(&again), None);
        let renewed = outgoing.properties(None, Publication::Renewed { failing_since: Some(7) });
        assert_eq!((failing_since(&renewed), is_published_again(&renewed)), (Some(7), true));
    }
}
