//! One order and its progress, for the examples. The types of the real answers render it, so an example looks like the real
//! answer. Its people are invented.

use anyhow::{Context, anyhow};
use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    ApiKeyId, BusinessId, Clock, DeliveryState, EndpointId, Entropy, EventId, EventKind, EvidencePlace,
    FailureReason, Mode, OrderId, Paise, PaymentType, RecipientRelation, RequestId, RequestedBy,
    TrackingCode, TransferId, WebhookDeliveryId,
};
use events::{Driver, ProgressData};
use internal_api::wallet::EntryView;
use internal_api::webhooks::{DeliveryState as WebhookState, OrderDeliveryView};
use serde_json::{Value, json};
use settings::Brand;
use url::Url;

use crate::commands::create_order::receipt;
use crate::domain::{
    AttemptFacts, AttemptRecord, AttemptRules, Decided, Decision, ExistingOrder, Fingerprint, NewOrder,
    Order, OrderDraft, OrderEvent, PersonalFacts, Placement, TrackingUrls,
};
use crate::routes::order_body;

/// 2026-01-31T09:30:00Z
const BEGIN_S: i64 = 1_769_851_800;

/// Bodies of orders: the required fields, every field, and cash on delivery.
pub(super) const SMALLEST: &str = include_str!("examples/smallest.json");
pub(super) const FULL: &str = include_str!("examples/full.json");
pub(super) const COD: &str = include_str!("examples/cod.json");
pub(super) const IDEMPOTENCY_KEY: &str = "malabar-coffee-2001";
pub(super) const CANCEL_REASON: &str = "The customer changed their mind";

pub(super) const DELIVERY_CODE: &str = "482915";
/// Of a report.
pub(super) const EVIDENCE: &str = concat!(
    r#""evidence":{"deliveryCode":"482915","recipientName":"Asha Rao","recipientRelation":"customer","#,
    r#""capturedAt":"2026-01-31T09:30:50Z","place":{"latitude":12.9784,"longitude":77.6408},"#,
    r#""photo":{"url":"https://fleet.example/photos/7","#,
    r#""sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}}"#,
);

pub(super) const ATTEMPTS_MAX: u32 = DeliveryState::ATTEMPTS_MAX_DEFAULT;
pub(super) const ATTEMPTS: AttemptRules =
    AttemptRules { max: ATTEMPTS_MAX, reattempt_fee: Paise::new(3_000) };

pub(super) struct Samples {
    pub(super) tracking_urls: TrackingUrls,
    pub(super) draft: OrderDraft,
    pub(super) brand: String,
}

fn clock() -> Clock {
    Clock::manual(DateTime::UNIX_EPOCH + TimeDelta::seconds(BEGIN_S))
}

fn id<T>(generate: impl Fn(&Clock, &Entropy) -> T, seed: u64) -> T {
    generate(&clock(), &Entropy::seeded(seed))
}

pub(super) fn order_id() -> OrderId {
    id(OrderId::generate, 1)
}

pub(super) fn tracking_code(mode: Mode) -> TrackingCode {
    TrackingCode::generate(mode, &Entropy::seeded(2))
}

pub(super) fn event_id(sequence: i64) -> EventId {
    id(EventId::generate, 10 + sequence.unsigned_abs())
}

impl Samples {
    /// For the service at `public_url`.
    ///
    /// # Errors
    /// When the example's body is not a valid order.
    pub(super) fn new(brand: &Brand, public_url: &Url) -> anyhow::Result<Self> {
        let tracking_urls = TrackingUrls::new(public_url);
        let body: Value = serde_json::from_str(FULL).context("the example's body")?;
        let draft = order_body::read(&body)
            .map_err(|field_errors| anyhow!("the example's body: {field_errors:?}"))?;
        Ok(Self { tracking_urls, draft, brand: brand.name.clone() })
    }

    fn now(&self) -> DateTime<Utc> {
        clock().now()
    }

    fn new_order(&self, mode: Mode) -> NewOrder {
        NewOrder {
            id: order_id(),
            business_id: id(BusinessId::generate, 3),
            mode,
            order_reference: self.draft.order_reference.clone(),
            idempotency_key: IDEMPOTENCY_KEY.to_owned(),
            fingerprint: Fingerprint::of(&Value::Null),
            meaning: Fingerprint::of(&Value::Null),
            tracking_code: tracking_code(mode),
            order_source: self.draft.order_source.clone(),
            payment_type: self.draft.payment.payment_type,
            delivery_fee: self.draft.payment.delivery_fee_paise,
            cod_amount: self.draft.payment.cod_amount_paise,
            details: self.draft.details().into(),
            receipt: Vec::new(),
            created_at: self.now(),
            request_id: id(RequestId::generate, 4),
            key_id: id(ApiKeyId::generate, 5),
        }
    }

    /// The body of a 201.
    ///
    /// # Errors
    /// When it cannot be rendered.
    pub(super) fn receipt(&self, mode: Mode) -> anyhow::Result<String> {
        let bytes =
            receipt::render(&self.tracking_urls, &self.new_order(mode), &self.draft.warnings.listed())?;
        Ok(String::from_utf8(bytes)?)
    }

    /// An order after these events, one per minute.
    pub(super) fn order(&self, mode: Mode, events: &[EventKind]) -> Order {
        let mut new = self.new_order(mode);
        if events.iter().any(|event| event.is_cash()) {
            new.payment_type = PaymentType::Cod;
        }
        let mut order = new.into_placed();
        for event in events {
            order.state = order.state.apply(*event, ATTEMPTS_MAX).unwrap_or(order.state);
            order.sequence += 1;
            order.updated_at += TimeDelta::minutes(1);
            // A simulated driver lives in the event alone.
            if *event == EventKind::DriverAssigned && mode == Mode::Live {
                order.driver = Some(json!(driver()));
            }
        }
        order
    }

    pub(super) fn cancelled_order(&self) -> Order {
        let mut order = self.order(Mode::Live, &[EventKind::OrderCancelled]);
        order.reason = Some(CANCEL_REASON.to_owned());
        order
    }

    /// An order that failed at the door, and what the business decided.
    pub(super) fn failed_order(&self, decision: Option<Decision>) -> Order {
        use EventKind::{DriverAssigned, OrderFailed, OrderOutForDelivery, OrderPickedUp};
        let events = [DriverAssigned, OrderPickedUp, OrderOutForDelivery, OrderFailed];
        let mut order = self.order(Mode::Live, &events);
        order.reason = Some("Nobody at home".to_owned());
        order.reason_code = Some(FailureReason::CustomerUnreachable.to_string());
        if decision.is_some() {
            order.updated_at += TimeDelta::minutes(1);
        }
        order.decided = decision.map(|decision| Decided {
            decision,
            at: order.updated_at,
            fee: decision.fee(&order, ATTEMPTS),
            by: Some(RequestedBy::ApiKey),
        });
        order
    }

    /// The events of such an order, its creation first.
    pub(super) fn moves(&self, events: &[EventKind]) -> Vec<OrderEvent> {
        let mut state = DeliveryState::new(PaymentType::Prepaid);
        let all = std::iter::once(&EventKind::OrderCreated).chain(events);
        all.zip(1..)
            .map(|(kind, sequence)| {
                state = state.apply(*kind, ATTEMPTS_MAX).unwrap_or(state);
                let at = self.now() + TimeDelta::minutes(sequence - 1);
                let driver = (*kind == EventKind::DriverAssigned).then(driver);
                let data = ProgressData { driver, ..ProgressData::default() };
                OrderEvent {
                    id: event_id(sequence),
                    order_id: order_id(),
                    business_id: id(BusinessId::generate, 3),
                    kind: *kind,
                    sequence,
                    status: state.status,
                    cod_status: state.cod,
                    data: json!(data),
                    occurred_at: at,
                    recorded_at: at + TimeDelta::milliseconds(40),
                }
            })
            .collect()
    }

    /// A delivered order, and the records of its attempts.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub(super) fn evidence(&self) -> anyhow::Result<(Order, Vec<AttemptRecord>)> {
        use EventKind::{DriverAssigned, OrderDelivered, OrderOutForDelivery, OrderPickedUp};
        let order =
            self.order(Mode::Live, &[DriverAssigned, OrderPickedUp, OrderOutForDelivery, OrderDelivered]);
        let at = order.updated_at;
        let facts = AttemptFacts {
            order_id: order.id,
            attempt: 1,
            event: OrderDelivered,
            sequence: order.sequence,
            report_id: "run-7-4".to_owned(),
            occurred_at: at,
            recorded_at: at,
            reason_code: None,
            captured_at: Some(at - TimeDelta::seconds(190)),
            recipient_relation: Some(RecipientRelation::Customer.to_string()),
            code_verified: Some(true),
            photo_sha256: Some("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned()),
            personal_hash: String::new(),
            previous_hash: None,
        };
        let personal = PersonalFacts {
            salt: "0f".repeat(16),
            place: Some(EvidencePlace { latitude: 12.978_4, longitude: 77.640_8 }),
            recipient_name: Some("Asha Rao".to_owned()),
            photo_url: Some("https://fleet.example/photos/7".to_owned()),
            reason: None,
        };
        let record = AttemptRecord::new(facts, &personal, None)?;
        Ok((order, vec![record]))
    }

    /// The fee, as the wallet's statement shows it.
    ///
    /// # Errors
    /// When it is not a valid line of a statement.
    pub(super) fn fee(&self) -> anyhow::Result<EntryView> {
        let line = json!({
            "id": "1",
            "transferId": id(TransferId::generate, 5),
            "kind": "delivery_fee",
            "amountPaise": -self.draft.payment.delivery_fee_paise.get(),
            "balanceAfterPaise": 95_100,
            "orderId": order_id(),
            "createdAt": self.now() + TimeDelta::milliseconds(20),
        });
        serde_json::from_value(line).context("the example's fee")
    }

    /// The webhook of the order's creation, delivered.
    pub(super) fn webhook(&self) -> OrderDeliveryView {
        let at = self.now() + TimeDelta::milliseconds(60);
        OrderDeliveryView {
            id: id(WebhookDeliveryId::generate, 6),
            endpoint_id: id(EndpointId::generate, 7),
            event_id: event_id(1),
            event: EventKind::OrderCreated,
            state: WebhookState::Succeeded,
            attempts: 1,
            last_attempt_at: Some(at),
            last_response_status: Some(200),
            last_error: None,
            next_attempt_at: None,
            completed_at: Some(at + TimeDelta::milliseconds(90)),
            created_at: at,
        }
    }

    /// The order that already holds a reference.
    pub(super) fn existing_order(&self) -> ExistingOrder {
        let order = self.order(Mode::Live, &[EventKind::DriverAssigned]);
        ExistingOrder {
            order_id: order.id,
            business_id: order.business_id,
            placement: Placement::Placed,
            attempt: 1,
            order_reference: order.order_reference,
            tracking_code: order.tracking_code,
            status: order.state.status,
            idempotency_key: IDEMPOTENCY_KEY.to_owned(),
            fingerprint: Fingerprint::of(&Value::Null),
            meaning: None,
            payment_type: PaymentType::Cod,
            delivery_fee: order.delivery_fee,
            cod_amount: order.cod_amount,
            receipt: Vec::new(),
            created_at: order.created_at,
            updated_at: order.updated_at,
        }
    }
}

pub(super) fn driver() -> Driver {
    Driver {
        name: "Ravi Kumar".to_owned(),
        phone: Some("+919800000003".to_owned()),
        vehicle: Some("KA01AB1234".to_owned()),
    }
}
