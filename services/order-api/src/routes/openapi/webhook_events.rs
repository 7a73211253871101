//! The bodies of webhooks: a schema for each kind of event.

use domain::{EventId, EventKind};
use strum::VariantArray;

use super::components::{order_id, tracking_code, tracking_url};
use super::ordered::{Json, object};
use super::schema::{id, nullable, paise, record, reference, string, time, with_required, words};
use crate::routes::fleet::is_cash;

pub(super) fn schemas() -> Vec<(&'static str, Json)> {
    let kinds = EventKind::VARIANTS.iter().copied();
    let mut all = vec![("WebhookEvent", any_event())];
    all.extend(kinds.map(|kind| (name(kind), event(kind))));
    all.extend([
        ("OtherWebhookEvent", other_event()),
        ("WebhookOrder", order()),
        ("CashEventData", cash_data()),
        ("LowBalanceData", low_balance_data()),
    ]);
    all
}

/// New kinds need a schema, so there is no arm for the rest.
fn name(kind: EventKind) -> &'static str {
    match kind {
        EventKind::OrderCreated => "OrderCreatedEvent",
        EventKind::DriverAssigned => "DriverAssignedEvent",
        EventKind::DriverUnassigned => "DriverUnassignedEvent",
        EventKind::OrderPickedUp => "OrderPickedUpEvent",
        EventKind::OrderOutForDelivery => "OrderOutForDeliveryEvent",
        EventKind::OrderDelivered => "OrderDeliveredEvent",
        EventKind::OrderFailed => "OrderFailedEvent",
        EventKind::OrderCancelled => "OrderCancelledEvent",
        EventKind::OrderReturned => "OrderReturnedEvent",
        EventKind::CodCollected => "CodCollectedEvent",
        EventKind::CodHandedOver => "CodHandedOverEvent",
        EventKind::CodSettled => "CodSettledEvent",
        EventKind::WalletLowBalance => "WalletLowBalanceEvent",
        EventKind::WebhookTest => "WebhookTestEvent",
    }
}

fn description(kind: EventKind) -> &'static str {
    match kind {
        EventKind::OrderCreated => "The order was created.",
        EventKind::DriverAssigned => "A driver was assigned: `data.driver`, if the fleet introduced them.",
        EventKind::DriverUnassigned => "The driver dropped out; another one is needed.",
        EventKind::OrderPickedUp => "The driver has the parcel.",
        EventKind::OrderOutForDelivery => "The parcel is on its way to the customer.",
        EventKind::OrderDelivered => "The customer has the parcel.",
        EventKind::OrderFailed => "The delivery failed: `data.reason` says why, until it is erased.",
        EventKind::OrderCancelled => {
            "The order was cancelled: `data.reason` says why, if a reason was given."
        }
        EventKind::OrderReturned => "The parcel came back to you.",
        EventKind::CodCollected => "The driver collected the cash.",
        EventKind::CodHandedOver => "The driver handed the cash over.",
        EventKind::CodSettled => "The cash was settled with you.",
        EventKind::WalletLowBalance => "The wallet holds less than its threshold. This event has no order.",
        EventKind::WebhookTest => "The test of an endpoint, about an order that does not exist.",
    }
}

fn any_event() -> Json {
    let kinds = EventKind::VARIANTS.iter().copied();
    let forms = kinds.clone().map(name).chain(["OtherWebhookEvent"]).map(reference);
    let path = |kind| format!("#/components/schemas/{}", name(kind));
    let mapping = kinds.map(|kind| (kind.as_str().to_owned(), Json::from(path(kind))));
    object! {
        "description": "What is sent to your endpoint, by its `event`. Ignore fields and kinds that you do not know, and answer \
                        them with 200.",
        "oneOf": forms.collect::<Vec<_>>(),
        "discriminator": object! { "propertyName": "event", "mapping": Json::object(mapping) },
    }
}

fn event(kind: EventKind) -> Json {
    let data = match kind {
        EventKind::WalletLowBalance => reference("LowBalanceData"),
        _ if is_cash(kind) => reference("CashEventData"),
        _ => reference("EventData"),
    };
    let event = words([kind.as_str()], "What happened.");
    if kind == EventKind::WalletLowBalance {
        let null = |description: &str| object! { "type": "null", "description": description };
        let (sequence, order) = (null("It takes no turn behind others."), null("It has no order."));
        return record(description(kind), common(event, sequence, order, data));
    }
    let fields = common(event, sequence(), reference("WebhookOrder"), data);
    with_erasure(description(kind), fields)
}

/// Kinds that a later release adds.
fn other_event() -> Json {
    let known: Vec<&str> = EventKind::VARIANTS.iter().map(|kind| kind.as_str()).collect();
    let event = object! {
        "type": "string", "description": "A kind that is not among these.", "not": object! { "enum": known },
    };
    let data = object! { "type": "object", "description": "What the event adds." };
    let fields = common(event, nullable(sequence()), nullable(reference("WebhookOrder")), data);
    with_erasure("An event of a kind that was added later: answer it with 200.", fields)
}

fn sequence() -> Json {
    object! {
        "type": "integer",
        "description": "Rises with each event of an order. Ignore an event whose sequence is not higher than the last one you took.",
    }
}

fn common(event: Json, sequence: Json, order: Json, data: Json) -> [(&'static str, Json); 7] {
    [
        ("id", id(EventId::PREFIX, "Stays the same however often it is sent: drop what you have seen.")),
        ("event", event),
        ("sequence", sequence),
        ("mode", reference("Mode")),
        ("occurredAt", time("When it happened.")),
        ("order", order),
        ("data", data),
    ]
}

fn with_erasure(description: &str, fields: [(&'static str, Json); 7]) -> Json {
    let required = fields.each_ref().map(|(name, _)| *name);
    let erased_at = time(
        "When the order's personal data was erased; left out before, and in events that had none. `data` has neither \
         `driver` nor `reason` since.",
    );
    with_required(description, &required, fields.into_iter().chain([("personalDataErasedAt", erased_at)]))
}

fn order() -> Json {
    record(
        "The order after the event. No personal data.",
        [
            ("id", order_id()),
            ("serviceOrderId", order_id()),
            ("orderReference", string("Your id of the order.")),
            ("trackingCode", tracking_code()),
            ("trackingUrl", tracking_url()),
            ("status", reference("DeliveryStatus")),
            ("codStatus", reference("CodStatus")),
        ],
    )
}

fn cash_data() -> Json {
    with_required(
        "What an event of cash adds.",
        &["codAmountPaise"],
        [
            ("codAmountPaise", paise("The cash.")),
            ("driver", reference("Driver")),
            ("reason", string("What the fleet remarked.")),
        ],
    )
}

fn low_balance_data() -> Json {
    record(
        "What the wallet holds, and what it should.",
        [
            ("balancePaise", paise("What the wallet holds.")),
            ("thresholdPaise", paise("The threshold that it fell below.")),
        ],
    )
}
