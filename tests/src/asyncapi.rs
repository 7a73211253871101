//! What goes over the broker, as AsyncAPI 3: `proto-docs/asyncapi/events.json`, from the types of the `events` crate and the
//! queues of `messaging`.

mod samples;

use domain::{EventKind, Mode};
use events::{
    ApiKeyRevoked, EXCHANGE, EndpointDisabled, EndpointFailing, OrderEvent, PersonalDataErased,
    WalletLowBalance, queues,
};
use messaging::Queue;
use serde_json::{Map, Value, json};
use strum::VariantArray;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

pub use samples::samples;

const ABOUT: &str = "Events between Waybill's services. Each is published at least once, persistent and confirmed, to one topic \
exchange, with its id as the AMQP message id and the W3C trace context in the headers `traceparent` and `tracestate`. Consumers \
remember the ids that they have handled, ignore fields that they do not know, and dead-letter what they cannot read. A field may \
be added; none is renamed, retyped or dropped. A new kind of event reaches nobody before its consumers are there: it has a queue, \
or at least a binding, of its own.";

/// One kind of event, as `type` names it.
pub struct Kind {
    pub name: &'static str,
    /// Who publishes it.
    from: &'static str,
    summary: &'static str,
    /// Of its payload; without it the payload is an empty object.
    payload: Option<&'static str>,
}

const fn kind(
    name: &'static str,
    from: &'static str,
    summary: &'static str,
    payload: Option<&'static str>,
) -> Kind {
    Kind { name, from, summary, payload }
}

pub const KINDS: [Kind; 10] = [
    kind("order", "order-api", "A delivery was created or moved. Becomes webhooks.", Some("OrderEvent")),
    kind(
        "api_key.revoked",
        "key-management",
        "A key stopped working. Verdicts kept elsewhere are dropped.",
        Some("ApiKeyRevoked"),
    ),
    kind(
        "business.changed",
        "portal-api",
        "Something that decides whether a business may order for real changed.",
        None,
    ),
    kind(
        "portal.changed",
        "portal-api",
        "Something that the portal's pages show of a business changed.",
        None,
    ),
    kind(
        "test_order.first",
        "order-api",
        "A business placed a test order for the first time. A go-live fact.",
        None,
    ),
    kind("wallet.funded", "wallet", "A wallet was topped up for the first time. A go-live fact.", None),
    kind(
        "wallet.low_balance",
        "wallet",
        "A balance fell below its alert threshold. Becomes an opt-in webhook and a mail.",
        Some("WalletLowBalance"),
    ),
    kind(
        "webhook_endpoint.failing",
        "webhook-dispatcher",
        "A webhook endpoint only fails, and part of its time is over. Its business is mailed.",
        Some("EndpointFailing"),
    ),
    kind(
        "webhook_endpoint.disabled",
        "webhook-dispatcher",
        "A webhook endpoint is not sent to any more. Its business is mailed.",
        Some("EndpointDisabled"),
    ),
    kind(
        "order.personal_data_erased",
        "order-api",
        "What an order held about people was erased. Copies of it are erased elsewhere.",
        Some("PersonalDataErased"),
    ),
];

impl Kind {
    /// Order events travel under their mode and what happened, all others under their own name.
    fn address(&self) -> &'static str {
        if self.name == "order" { "{mode}.{event}" } else { self.name }
    }

    /// Whether a queue with this binding gets some of them.
    fn goes_to(&self, binding: &str) -> bool {
        let is_mode = Mode::VARIANTS.iter().any(|mode| binding.starts_with(&format!("{mode}.")));
        if self.name == "order" { is_mode } else { binding == self.name }
    }
}

/// The document.
///
/// # Errors
/// When a schema cannot be written as JSON.
pub fn document() -> serde_json::Result<Value> {
    let queues = queues::ALL.map(Queue::shared);
    Ok(json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Waybill's events",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": env!("CARGO_PKG_LICENSE") },
        },
        "defaultContentType": "application/json",
        "servers": {
            "broker": { "host": "rabbitmq.example:5672", "protocol": "amqp", "protocolVersion": "0.9.1" },
        },
        "channels": channels(&queues),
        "operations": operations(&queues),
        "components": { "messages": messages(), "schemas": schemas()? },
    }))
}

fn channels(queues: &[Queue]) -> Value {
    let exchange = json!({ "name": EXCHANGE, "type": "topic", "durable": true, "autoDelete": false });
    let mut channels = Map::new();
    for kind in &KINDS {
        let amqp = json!({ "is": "routingKey", "exchange": exchange, "bindingVersion": "0.3.0" });
        let mut channel = json!({
            "address": kind.address(),
            "summary": kind.summary,
            "messages": { kind.name: { "$ref": format!("#/components/messages/{}", kind.name) } },
            "bindings": { "amqp": amqp },
        });
        if kind.name == "order" {
            let events: Vec<&str> = EventKind::VARIANTS.iter().map(|event| event.as_str()).collect();
            let modes: Vec<&str> = Mode::VARIANTS.iter().map(|mode| mode.as_str()).collect();
            channel["parameters"] = json!({
                "mode": { "enum": modes, "description": "For trying out, or for real." },
                "event": { "enum": events, "description": "What happened." },
            });
        }
        channels.insert(kind.name.to_owned(), channel);
    }
    for queue in queues {
        let refs: Map<_, _> = received(queue)
            .map(|kind| {
                (kind.name.to_owned(), json!({ "$ref": format!("#/components/messages/{}", kind.name) }))
            })
            .collect();
        let bound = settings::comma_separated(queue.bindings()).replace(',', "`, `");
        let amqp = json!({
            "is": "queue",
            "queue": { "name": queue.name(), "durable": true, "exclusive": false, "autoDelete": false },
            "bindingVersion": "0.3.0",
        });
        let channel = json!({
            "address": queue.name(),
            "summary": format!("A quorum queue, bound to `{bound}`; what cannot be handled goes to `{}`.", queue.dead_letters()),
            "messages": refs,
            "bindings": { "amqp": amqp },
        });
        channels.insert(queue.name().to_owned(), channel);
    }
    Value::Object(channels)
}

fn received(queue: &Queue) -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(|kind| queue.bindings().iter().any(|binding| kind.goes_to(binding)))
}

fn operations(queues: &[Queue]) -> Value {
    let mut operations = Map::new();
    for kind in &KINDS {
        let operation = json!({
            "action": "send",
            "channel": { "$ref": format!("#/channels/{}", kind.name) },
            "summary": format!("{} publishes it through its outbox.", kind.from),
            "bindings": { "amqp": { "deliveryMode": 2, "bindingVersion": "0.3.0" } },
        });
        operations.insert(format!("send.{}", kind.name), operation);
    }
    for queue in queues {
        let service = queue.name().split('.').next().unwrap_or_default();
        let operation = json!({
            "action": "receive",
            "channel": { "$ref": format!("#/channels/{}", queue.name()) },
            "summary": format!("{service} handles each once, however often it is delivered."),
            "bindings": { "amqp": { "ack": true, "bindingVersion": "0.3.0" } },
        });
        operations.insert(format!("receive.{}", queue.name()), operation);
    }
    Value::Object(operations)
}

fn messages() -> Value {
    let message = |kind: &Kind| {
        let payload = match kind.payload {
            Some(schema) => json!({ "$ref": format!("#/components/schemas/{schema}") }),
            None => json!({ "type": "object" }),
        };
        let envelope = json!({
            "type": "object",
            "required": ["id", "businessId", "occurredAt", "type", "payload"],
            "properties": {
                "id": { "$ref": "#/components/schemas/EventId" },
                "businessId": { "$ref": "#/components/schemas/BusinessId" },
                "occurredAt": { "type": "string", "format": "date-time" },
                "type": { "const": kind.name },
                "payload": payload,
            },
        });
        let headers = json!({
            "type": "object",
            "properties": { "traceparent": { "type": "string" }, "tracestate": { "type": "string" } },
        });
        json!({ "name": kind.name, "summary": kind.summary, "headers": headers, "payload": envelope })
    };
    Value::Object(KINDS.iter().map(|kind| (kind.name.to_owned(), message(kind))).collect())
}

fn schemas() -> serde_json::Result<Value> {
    let mut found: Vec<(String, RefOr<Schema>)> = Vec::new();
    add::<OrderEvent>(&mut found);
    add::<ApiKeyRevoked>(&mut found);
    add::<WalletLowBalance>(&mut found);
    add::<EndpointFailing>(&mut found);
    add::<EndpointDisabled>(&mut found);
    add::<PersonalDataErased>(&mut found);
    add::<domain::EventId>(&mut found);
    add::<domain::BusinessId>(&mut found);
    let written = found.into_iter().map(|(name, schema)| Ok((name, serde_json::to_value(schema)?)));
    written.collect::<serde_json::Result<Map<_, _>>>().map(Value::Object)
}

fn add<T: ToSchema>(found: &mut Vec<(String, RefOr<Schema>)>) {
    found.push((T::name().into_owned(), T::schema()));
    T::schemas(found);
}
