//! The AsyncAPI 3 document `proto-docs/asyncapi/events.json`, generated from the types of the `events` crate and the
//! queues of `messaging`.

mod samples;

use domain::{EventKind, Mode};
use events::{
    ApiKeyRevoked, AttemptBegun, CashRemitted, EXCHANGE, EndpointDisabled, EndpointFailing, OrderEvent,
    PersonalDataErased, WalletLowBalance, WalletMoneyTakenBack, queues,
};
use messaging::Queue;
use serde_json::{Map, Value, json};
use strum::VariantArray;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

pub use samples::samples;

const ABOUT: &str = "Events between Waybill's services. Each event is published at least once, persistent and confirmed, to one topic \
exchange. The event's id is the AMQP message id; the headers `traceparent` and `tracestate` carry the W3C trace context; \
`published-again` is true if the event may have been published before. Consumers \
deduplicate events by id, ignore unknown fields, and dead-letter messages that they cannot parse. A release may add a field, but does \
not rename, retype or remove one. A new kind of event has its own queue or binding, so that it reaches no consumer of an older \
release.";
const LICENSE_URL: &str = "https://www.apache.org/licenses/LICENSE-2.0";

/// A kind of event. `name` is its `type` on the wire.
pub struct Kind {
    pub name: &'static str,
    /// The publishing service.
    from: &'static str,
    summary: &'static str,
    /// The schema of its payload; `None` for an empty object.
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

pub const KINDS: [Kind; 13] = [
    kind("order", "order-api", "A delivery was created or moved. Becomes webhooks.", Some("OrderEvent")),
    kind(
        "api_key.revoked",
        "key-management",
        "A key stopped working. Other services drop it from their caches.",
        Some("ApiKeyRevoked"),
    ),
    kind("business.changed", "portal-api", "A fact that decides about live orders changed.", None),
    kind("portal.changed", "portal-api", "A business's data on the portal's pages changed.", None),
    kind("test_order.first", "order-api", "A business placed its first test order. A go-live fact.", None),
    kind("wallet.funded", "wallet", "A wallet was topped up for the first time. A go-live fact.", None),
    kind(
        "wallet.low_balance",
        "wallet",
        "A balance fell below its alert threshold. Becomes an opt-in webhook and a mail.",
        Some("WalletLowBalance"),
    ),
    kind(
        "wallet.money_taken_back",
        "wallet",
        "The operator or the payment provider took money back. The business gets a mail.",
        Some("WalletMoneyTakenBack"),
    ),
    kind(
        "wallet.cash_remitted",
        "wallet",
        "A remittance paid out the cash of an order. order-api settles the order.",
        Some("CashRemitted"),
    ),
    kind(
        "order.attempt_begun",
        "order-api",
        "An attempt began that a business asked for, and that is not free. wallet takes the fee.",
        Some("AttemptBegun"),
    ),
    kind(
        "webhook_endpoint.failing",
        "webhook-dispatcher",
        "A webhook endpoint keeps failing and will be disabled. The business gets a mail.",
        Some("EndpointFailing"),
    ),
    kind(
        "webhook_endpoint.disabled",
        "webhook-dispatcher",
        "A webhook endpoint was disabled. The business gets a mail.",
        Some("EndpointDisabled"),
    ),
    kind(
        "order.personal_data_erased",
        "order-api",
        "The personal data of an order was erased. Other services erase their copies.",
        Some("PersonalDataErased"),
    ),
];

impl Kind {
    /// Order events use their mode and kind, others use their own name.
    fn address(&self) -> &'static str {
        if self.name == "order" { "{mode}.{event}" } else { self.name }
    }

    /// Whether a queue with this binding receives some of these events.
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
            "license": { "name": env!("CARGO_PKG_LICENSE"), "url": LICENSE_URL },
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
                "mode": { "enum": modes, "description": "Test or live." },
                "event": { "enum": events, "description": "The kind of the event." },
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
            "summary": format!("A quorum queue, bound to `{bound}`. Messages that cannot be handled go to `{}`.", queue.dead_letters()),
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
            "summary": format!("{service} handles each event once, even if it is redelivered."),
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
            "properties": { "traceparent": { "type": "string" }, "tracestate": { "type": "string" },
                "published-again": { "type": "boolean" } },
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
    add::<WalletMoneyTakenBack>(&mut found);
    add::<CashRemitted>(&mut found);
    add::<AttemptBegun>(&mut found);
    add::<EndpointFailing>(&mut found);
    add::<EndpointDisabled>(&mut found);
    add::<PersonalDataErased>(&mut found);
    add::<domain::EventId>(&mut found);
    add::<domain::BusinessId>(&mut found);
    let written = found
        .into_iter()
        .map(|(name, schema)| Ok((name, without_ref_siblings(serde_json::to_value(schema)?))));
    written.collect::<serde_json::Result<Map<_, _>>>().map(Value::Object)
}

/// Wraps each `$ref` with siblings in `allOf`: AsyncAPI's schemas (JSON Schema draft 7) ignore the siblings of a `$ref`.
fn without_ref_siblings(schema: Value) -> Value {
    match schema {
        Value::Object(mut fields) => {
            if fields.len() > 1
                && let Some(reference) = fields.remove("$ref")
            {
                fields.insert("allOf".into(), json!([{ "$ref": reference }]));
            }
            Value::Object(
                fields.into_iter().map(|(name, value)| (name, without_ref_siblings(value))).collect(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_ref_siblings).collect()),
        value => value,
    }
}

fn add<T: ToSchema>(found: &mut Vec<(String, RefOr<Schema>)>) {
    found.push((T::name().into_owned(), T::schema()));
    T::schemas(found);
}
