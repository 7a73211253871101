//! One order and what becomes of it, for the examples: made by the types that answer, so that an example looks like the
//! answer that a caller gets. Nothing in it is anybody's.

use anyhow::{Context, anyhow};
use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    ApiKeyId, BusinessId, Clock, DeliveryState, EndpointId, Entropy, EventId, EventKind, Mode, OrderId,
    PaymentType, RequestId, TrackingCode, TransferId, WebhookDeliveryId,
};
use events::{Driver, ProgressData};
use internal_api::wallet::EntryView;
use internal_api::webhooks::{DeliveryState as WebhookState, OrderDeliveryView};
use serde_json::{Value, json};
use settings::Brand;
use url::Url;

use super::ordered::{Json, object};
use crate::commands::create_order::receipt;
use crate::domain::{
    ExistingOrder, Fingerprint, NewOrder, Order, OrderDraft, OrderEvent, Placement, TrackingUrls,
};
use crate::routes::order_body;

/// 2026-01-31T09:30:00Z
const BEGIN_S: i64 = 1_769_851_800;

/// What the examples are made of.
pub(super) struct Samples {
    pub(super) tracking_urls: TrackingUrls,
    pub(super) draft: OrderDraft,
    pub(super) brand: String,
    clock: Clock,
}

impl Samples {
    /// With links that begin as those of the service at `public_url` do.
    ///
    /// # Errors
    /// When the body of the example is no order.
    pub(super) fn new(brand: &Brand, public_url: &Url) -> anyhow::Result<Self> {
        let clock = Clock::manual(DateTime::UNIX_EPOCH + TimeDelta::seconds(BEGIN_S));
        let tracking_urls = TrackingUrls::new(public_url);
        let body: Value = serde_json::from_str(&order_body().to_string()).context("the example's body")?;
        let draft = order_body::read(&body)
            .map_err(|field_errors| anyhow!("the example's body: {field_errors:?}"))?;
        Ok(Self { tracking_urls, draft, brand: brand.name.clone(), clock })
    }

    fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    pub(super) fn id<T>(&self, generate: impl Fn(&Clock, &Entropy) -> T, seed: u64) -> T {
        generate(&self.clock, &Entropy::seeded(seed))
    }

    pub(super) fn order_id(&self) -> OrderId {
        self.id(OrderId::generate, 1)
    }

    pub(super) fn tracking_code(&self, mode: Mode) -> TrackingCode {
        TrackingCode::generate(mode, &Entropy::seeded(2))
    }

    fn new_order(&self, mode: Mode) -> NewOrder {
        NewOrder {
            id: self.order_id(),
            business_id: self.id(BusinessId::generate, 3),
            mode,
            order_reference: self.draft.order_reference.clone(),
            idempotency_key: IDEMPOTENCY_KEY.to_owned(),
            fingerprint: Fingerprint::of(&Value::Null),
            meaning: Fingerprint::of(&Value::Null),
            tracking_code: self.tracking_code(mode),
            order_source: self.draft.order_source.clone(),
            payment_type: self.draft.payment.payment_type,
            delivery_fee: self.draft.payment.delivery_fee_paise,
            cod_amount: self.draft.payment.cod_amount_paise,
            details: self.draft.details().into(),
            receipt: Vec::new(),
            created_at: self.now(),
            request_id: self.id(RequestId::generate, 4),
            key_id: self.id(ApiKeyId::generate, 5),
        }
    }

    /// The body of a 201.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn receipt(&self, mode: Mode) -> anyhow::Result<Json> {
        let bytes =
            receipt::render(&self.tracking_urls, &self.new_order(mode), &self.draft.warnings.listed())?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// An order after these events, a minute after each other.
    pub(super) fn order(&self, mode: Mode, events: &[EventKind]) -> Order {
        let mut order = self.new_order(mode).into_placed();
        for event in events {
            order.state = order.state.apply(*event).map_or(order.state, |moved| moved.to);
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

    /// The moves of such an order, its creation first.
    pub(super) fn moves(&self, events: &[EventKind]) -> Vec<OrderEvent> {
        let mut state = DeliveryState::new(PaymentType::Prepaid);
        let all = std::iter::once(&EventKind::OrderCreated).chain(events);
        all.zip(1..)
            .map(|(kind, sequence)| {
                state = state.apply(*kind).map_or(state, |moved| moved.to);
                let at = self.now() + TimeDelta::minutes(sequence - 1);
                let driver = (*kind == EventKind::DriverAssigned).then(driver);
                let data = ProgressData { driver, ..ProgressData::default() };
                OrderEvent {
                    id: self.event_id(sequence),
                    order_id: self.order_id(),
                    business_id: self.id(BusinessId::generate, 3),
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

    pub(super) fn event_id(&self, sequence: i64) -> EventId {
        self.id(EventId::generate, 10 + sequence.unsigned_abs())
    }

    /// The fee, as the wallet's statement has it.
    ///
    /// # Errors
    /// When that is no line of a statement.
    pub(super) fn fee(&self) -> anyhow::Result<EntryView> {
        let line = json!({
            "id": "1",
            "transferId": self.id(TransferId::generate, 5),
            "kind": "delivery_fee",
            "amountPaise": -self.draft.payment.delivery_fee_paise.get(),
            "balanceAfterPaise": 95_100,
            "orderId": self.order_id(),
            "createdAt": self.now() + TimeDelta::milliseconds(20),
        });
        serde_json::from_value(line).context("the example's fee")
    }

    /// The webhook of the order's creation, delivered.
    pub(super) fn webhook(&self) -> OrderDeliveryView {
        let at = self.now() + TimeDelta::milliseconds(60);
        OrderDeliveryView {
            id: self.id(WebhookDeliveryId::generate, 6),
            endpoint_id: self.id(EndpointId::generate, 7),
            event_id: self.event_id(1),
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

    /// What holds a reference that is asked for again.
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
            delivery_fee: order.delivery_fee,
            receipt: Vec::new(),
        }
    }
}

pub(super) const IDEMPOTENCY_KEY: &str = "malabar-coffee-1001";
pub(super) const CANCEL_REASON: &str = "The customer changed their mind";

fn driver() -> Driver {
    Driver {
        name: "Ravi Kumar".to_owned(),
        phone: Some("+919800000003".to_owned()),
        vehicle: Some("KA01AB1234".to_owned()),
    }
}

/// The least that is an order.
pub(super) fn smallest_body() -> Json {
    object! {
        "orderReference": "1001",
        "customer": object! { "name": "Asha Rao", "phone": "+919800000001" },
        "delivery": object! {
            "addressLine1": "12th Main Road", "city": "Bengaluru", "state": "Karnataka", "pincode": "560038",
        },
        "payment": object! { "paymentType": "prepaid", "deliveryFeePaise": 4900 },
    }
}

/// An order that is paid at the door.
pub(super) fn cod_body() -> Json {
    object! {
        "orderReference": "1002",
        "customer": object! { "name": "Asha Rao", "phone": "+919800000001" },
        "delivery": object! {
            "addressLine1": "12th Main Road", "city": "Bengaluru", "state": "Karnataka", "pincode": "560038",
        },
        "payment": object! {
            "paymentType": "cod", "deliveryFeePaise": 4900, "orderValuePaise": 149_900, "codAmountPaise": 154_800,
            "prepaidAmountPaise": 0, "currency": "INR",
        },
    }
}

/// An order with all that can be said of one.
pub(super) fn order_body() -> Json {
    let delivery = object! {
        "addressLine1": "12th Main Road, Indiranagar",
        "addressLine2": "3rd floor",
        "city": "Bengaluru",
        "state": "Karnataka",
        "pincode": "560038",
        "landmark": "Opposite the metro station",
        "latitude": 12.9784,
        "longitude": 77.6408,
        "fullAddress": Json::Null,
    };
    let pickup = object! {
        "businessName": "Malabar Coffee Works",
        "contactName": "Joseph Mathew",
        "phone": "+919800000002",
        "addressLine1": "27, Church Street",
        "city": "Bengaluru",
        "state": "Karnataka",
        "pincode": "560001",
    };
    let item = object! { "name": "Arabica, 250 g", "quantity": 2, "pricePaise": 72_500 };
    object! {
        "orderReference": "1001",
        "orderSource": "business_website",
        "customer": object! { "name": "Asha Rao", "phone": "+919800000001", "email": "asha@example.com" },
        "delivery": delivery,
        "pickup": pickup,
        "package": object! {
            "description": "Coffee", "items": [item], "totalItems": 2, "weightKg": 0.6, "fragile": false,
            "specialInstructions": Json::Null,
        },
        "payment": object! {
            "paymentType": "prepaid", "orderValuePaise": 149_900, "deliveryFeePaise": 4900, "codAmountPaise": 0,
            "prepaidAmountPaise": 149_900, "currency": "INR",
        },
        "notes": object! { "customerNote": "Please ring twice", "internalNote": Json::Null },
    }
}
