//! The bodies of the webhooks that a business receives (SPECIFICATION §4.2).

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use domain::{
    CodStatus, DeliveryStatus, EventId, EventKind, EvidencePlace, FailureReason, Mode, OrderId, Paise,
    RecipientRelation, RequestedBy,
};
use events::{Evidence, OrderSnapshot, ProgressData, ScheduledAttempt, WalletLowBalance};
use serde::Serialize;
use serde_json::json;
use strum::VariantArray;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use webhook_body::WebhookBody;

use super::answers::Sample;
use super::components::{reference, union, without_null};
use super::samples::{self, Samples};
use super::schema::{string, words};

/// Of an attempt's record.
const HASH: &str = "a3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The form of every webhook's body.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::routes) struct WebhookEvent {
    /// Stays the same however often the event is sent: drop ids that you have already received.
    id: EventId,
    event: EventKind,
    /// Rises with each event of an order. An event whose sequence is not higher than the last one that you applied changes no
    /// status: record what matters on its own, such as the amount of `cod.collected`, and ignore the rest.
    sequence: Option<i64>,
    mode: Mode,
    /// When it happened.
    occurred_at: DateTime<Utc>,
    order: Option<WebhookOrder>,
    data: ProgressData,
    /// When the order's personal data was erased; left out before, and in events without any. `data` has no `driver`, `reason` and
    /// `evidence` afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    personal_data_erased_at: Option<DateTime<Utc>>,
}

/// The order after the event. No personal data.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WebhookOrder {
    #[serde(flatten)]
    order: OrderSnapshot,
    /// The same value as `id`.
    service_order_id: OrderId,
}

impl WebhookEvent {
    fn as_sent(&self) -> WebhookBody<'_, ProgressData> {
        WebhookBody {
            id: self.id,
            event: self.event,
            sequence: self.sequence,
            mode: self.mode,
            occurred_at: self.occurred_at,
            order: self.order.as_ref().map(|of| &of.order),
            data: &self.data,
        }
    }
}

/// The bytes that webhook-dispatcher sends and the feed returns.
fn sample(name: &'static str, body: &WebhookBody<'_, impl Serialize>) -> Sample {
    let json = body.render().unwrap_or_default();
    (name, body.event.as_str(), String::from_utf8_lossy(&json).into_owned())
}

/// A new kind needs a description, so no arm covers the rest.
fn description(kind: EventKind) -> &'static str {
    match kind {
        EventKind::OrderCreated => "The order was created.",
        EventKind::DriverAssigned => "A driver was assigned: `data.driver`, if the fleet introduced them.",
        EventKind::DriverUnassigned => "The driver dropped out; another one is needed.",
        EventKind::OrderPickedUp => "The driver has the parcel.",
        EventKind::OrderOutForDelivery => "The parcel is on its way to the customer.",
        EventKind::OrderDelivered => {
            "The customer has the parcel: `data.evidence` has the hash of the record and what the fleet proves, until it is erased."
        }
        EventKind::OrderFailed => {
            "The delivery failed: `data.reason` says why, until it is erased, and `data.reasonCode` if the fleet gave one. \
             `data.evidence` is as with `order.delivered`."
        }
        EventKind::OrderCancelled => {
            "The order was cancelled: `data.reason` says why, if one was given, and `data.requestedBy` who asked, unless the fleet cancelled."
        }
        EventKind::OrderReturned => "You have the parcel back.",
        EventKind::OrderReattemptScheduled => {
            "You asked for another attempt: `data.reattempt` has its number, and its day if you chose one; \
             `data.requestedBy` says who asked. Your operator may not have switched this event on."
        }
        EventKind::OrderReturning => {
            "You asked for the parcel: `data.reasonCode` says why the delivery failed, if the fleet gave a code; \
             `data.requestedBy` says who asked. Your operator may not have switched this event on."
        }
        EventKind::CodCollected => "The driver collected the cash.",
        EventKind::CodHandedOver => "The driver handed the cash over.",
        EventKind::CodSettled => "The cash was settled with you.",
        EventKind::WalletLowBalance => "The wallet holds less than its threshold. This event has no order.",
        EventKind::WebhookTest => {
            "The test of an endpoint, about an order that does not exist. Its `mode` is always `test`, also at an endpoint \
             that gets live events only."
        }
    }
}

/// `OrderCreatedEvent`, and so on.
fn name(kind: EventKind) -> String {
    format!("{kind:?}Event")
}

/// A schema for each kind of event, made from the form of all of them, and their union under the form's own name.
pub(super) fn schemas(form: &Object) -> Vec<(String, RefOr<Schema>)> {
    let kinds = EventKind::VARIANTS.iter().copied();
    let named = kinds.clone().map(|kind| (kind.as_str(), name(kind)));
    let description =
        "Sent to your endpoint, by its `event`. Ignore unknown fields and kinds, and answer them with 200.";
    let all = union(description, "event", named, Some("OtherWebhookEvent"));
    let mut schemas =
        vec![("WebhookEvent".to_owned(), all), ("OtherWebhookEvent".to_owned(), other_event(form))];
    schemas.extend(kinds.map(|kind| (name(kind), event(kind, form))));
    schemas
}

fn event(kind: EventKind, form: &Object) -> RefOr<Schema> {
    let mut event = form.clone();
    event.description = Some(description(kind).to_owned());
    let mut set = |field: &str, schema| event.properties.insert(field.to_owned(), schema);
    set("event", words([kind.as_str()]).description(Some("What happened.")).into());
    if kind == EventKind::WalletLowBalance {
        let null =
            |description| ObjectBuilder::new().schema_type(Type::Null).description(Some(description)).into();
        set("sequence", null("This event has no order to be in sequence with."));
        set("order", null("This event has no order."));
        set("data", reference("WalletLowBalance"));
        event.properties.shift_remove("personalDataErasedAt");
    } else {
        for field in ["sequence", "order"] {
            if let Some(schema) = event.properties.get_mut(field) {
                *schema = without_null(schema).unwrap_or_else(|| schema.clone());
            }
        }
        if kind.is_cash() {
            event.properties.insert("data".to_owned(), reference("CashEventData"));
        }
    }
    RefOr::T(event.into())
}

/// An event of a kind that a later release adds.
fn other_event(form: &Object) -> RefOr<Schema> {
    let mut event = form.clone();
    event.description = Some("An event of a kind that was added later: answer it with 200.".to_owned());
    let known: Vec<&str> = EventKind::VARIANTS.iter().map(|kind| kind.as_str()).collect();
    // utoipa has no field for `not`.
    let not = [("not", json!({ "enum": known }))].into_iter().collect();
    let kind = string().description(Some("A kind that is not among these.")).extensions(Some(not));
    event.properties.insert("event".to_owned(), kind.into());
    let data = ObjectBuilder::new().description(Some("The details of the event."));
    event.properties.insert("data".to_owned(), data.into());
    RefOr::T(event.into())
}

/// An example of each kind.
pub(super) fn examples(samples: &Samples) -> Vec<Sample> {
    let data = WalletLowBalance { balance_paise: Paise::new(45_100), threshold_paise: Paise::new(50_000) };
    let low_balance = WebhookBody {
        id: samples::event_id(6),
        event: EventKind::WalletLowBalance,
        sequence: None,
        mode: Mode::Live,
        occurred_at: samples.order(Mode::Live, &[]).created_at,
        order: None,
        data: &data,
    };
    let others = [sample("low_balance", &low_balance), sample("test", &test_of_endpoint(samples).as_sent())];
    of_orders(samples).into_iter().chain(further(samples)).chain(others).collect()
}

/// As webhook-dispatcher makes it up.
fn test_of_endpoint(samples: &Samples) -> WebhookEvent {
    let (id, tracking_code) = (samples::order_id(), samples::tracking_code(Mode::Test));
    let order = OrderSnapshot {
        id,
        order_reference: "webhook-test".to_owned(),
        tracking_url: format!("https://tracking.example/track/{tracking_code}"),
        tracking_code,
        status: DeliveryStatus::Created,
        cod_status: CodStatus::NotApplicable,
    };
    WebhookEvent {
        event: EventKind::WebhookTest,
        mode: Mode::Test,
        order: Some(WebhookOrder { order, service_order_id: id }),
        ..body(samples, &[], ProgressData::default())
    }
}

/// The kinds that the other examples lack. Those of the cash are of an order with cash on delivery.
fn further(samples: &Samples) -> [Sample; 9] {
    use EventKind::{
        CodCollected, CodHandedOver, CodSettled, DriverAssigned, DriverUnassigned, OrderCancelled,
        OrderDelivered, OrderFailed, OrderOutForDelivery, OrderPickedUp, OrderReattemptScheduled,
        OrderReturned, OrderReturning,
    };
    let way = [
        DriverAssigned,
        OrderPickedUp,
        OrderOutForDelivery,
        OrderDelivered,
        CodCollected,
        CodHandedOver,
        CodSettled,
    ];
    let returned = [DriverAssigned, OrderPickedUp, OrderFailed, OrderReturned];
    let rescheduled = [DriverAssigned, OrderPickedUp, OrderFailed, OrderReattemptScheduled];
    let returning = [DriverAssigned, OrderPickedUp, OrderFailed, OrderReturning];
    let on = NaiveDate::from_ymd_opt(2026, 2, 3);
    let attempt = ScheduledAttempt { number: 2, on, fee_paise: Paise::new(3_000) };
    let by = |by: RequestedBy| ProgressData { requested_by: Some(by.to_string()), ..ProgressData::default() };
    let attempt = ProgressData { reattempt: Some(attempt), ..by(RequestedBy::Portal) };
    let code = FailureReason::CustomerRefused.to_string();
    let refused = ProgressData { reason_code: Some(code), ..by(RequestedBy::Portal) };
    let cancelled =
        ProgressData { reason: Some(samples::CANCEL_REASON.to_owned()), ..by(RequestedBy::ApiKey) };
    let cash = ProgressData { cod_amount_paise: Some(Paise::new(154_800)), ..ProgressData::default() };
    let none = ProgressData::default();
    [
        ("unassigned", &[DriverAssigned, DriverUnassigned][..], none.clone()),
        ("out_for_delivery", &way[..3], none),
        ("cancelled", &[OrderCancelled][..], cancelled),
        ("reattempt_scheduled", &rescheduled[..], attempt),
        ("returning", &returning[..], refused),
        ("returned", &returned[..], because("The customer refused the parcel")),
        ("collected", &way[..5], cash.clone()),
        ("handed_over", &way[..6], cash.clone()),
        ("settled", &way[..], cash),
    ]
    .map(|(name, events, data)| sample(name, &body(samples, events, data).as_sent()))
}

fn because(reason: &str) -> ProgressData {
    ProgressData { reason: Some(reason.to_owned()), ..ProgressData::default() }
}

/// The examples of events that belong to an order.
pub(super) fn of_orders(samples: &Samples) -> [Sample; 5] {
    use EventKind::{DriverAssigned, OrderDelivered, OrderFailed, OrderOutForDelivery, OrderPickedUp};
    let delivered = [DriverAssigned, OrderPickedUp, OrderOutForDelivery, OrderDelivered];
    let failed = [DriverAssigned, OrderPickedUp, OrderOutForDelivery, OrderFailed];
    let recorded = Evidence {
        attempt: 1,
        captured_at: None,
        place: None,
        recipient_name: None,
        recipient_relation: None,
        code_verified: None,
        photo: None,
        hash: HASH.to_owned(),
    };
    let proven = Evidence {
        captured_at: Some(samples.order(Mode::Live, &delivered).updated_at - TimeDelta::seconds(10)),
        place: Some(EvidencePlace { latitude: 12.978_4, longitude: 77.640_8 }),
        recipient_name: Some("Asha Rao".to_owned()),
        recipient_relation: Some(RecipientRelation::Customer.to_string()),
        code_verified: Some(true),
        ..recorded.clone()
    };
    let none = ProgressData::default();
    let driver = ProgressData { driver: Some(samples::driver()), ..none.clone() };
    let delivery = ProgressData { evidence: Some(proven), ..none.clone() };
    let failure = ProgressData {
        reason_code: Some(FailureReason::CustomerUnreachable.to_string()),
        evidence: Some(recorded),
        ..because("Nobody at home")
    };
    [
        ("picked_up", &failed[..2], none.clone()),
        ("created", &failed[..0], none),
        ("assigned", &failed[..1], driver),
        ("delivered", &delivered[..], delivery),
        ("failed", &failed[..], failure),
    ]
    .map(|(name, events, data)| sample(name, &body(samples, events, data).as_sent()))
}

/// The webhook of the last of these events, or of the order's creation when there are none.
fn body(samples: &Samples, events: &[EventKind], data: ProgressData) -> WebhookEvent {
    let order = samples.order(Mode::Live, events);
    WebhookEvent {
        id: samples::event_id(order.sequence),
        event: events.last().copied().unwrap_or(EventKind::OrderCreated),
        sequence: Some(order.sequence),
        mode: order.mode,
        occurred_at: order.updated_at,
        order: Some(WebhookOrder {
            service_order_id: order.id,
            order: OrderSnapshot {
                id: order.id,
                order_reference: order.order_reference,
                tracking_url: samples.tracking_urls.of(&order.tracking_code),
                tracking_code: order.tracking_code,
                status: order.state.status,
                cod_status: order.state.cod,
            },
        }),
        data,
        personal_data_erased_at: None,
    }
}
