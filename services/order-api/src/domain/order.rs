//! Orders as this service knows them.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::{
    ApiKeyId, BusinessId, CodStatus, DeliveryState, DeliveryStatus, EventId, EventKind, Mode, OrderId, Paise,
    PaymentType, RequestId, TrackingCode,
};
use serde_json::Value;
use strum::{Display, EnumString, IntoStaticStr};

use crate::domain::{CashReports, Fingerprint};

/// How far an order is on its way to being one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Placement {
    /// Stored, its debit not yet known to be posted. Nobody's order.
    PendingPayment,
    /// An order.
    Placed,
    /// Its debit was rejected or called off. Its reference and key are free for another try.
    Released,
}

impl Placement {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A placed order.
#[derive(Clone, Debug)]
pub struct Order {
    pub id: OrderId,
    pub business_id: BusinessId,
    pub mode: Mode,
    pub order_reference: String,
    pub order_source: String,
    pub tracking_code: TrackingCode,
    pub state: DeliveryState,
    pub delivery_fee: Paise,
    pub cod_amount: Paise,
    /// `customer`, `delivery`, `pickup`, `package`, `payment`, `notes`.
    pub details: Arc<Value>,
    pub sequence: i64,
    pub driver: Option<Value>,
    pub reason: Option<String>,
    pub cash: CashReports,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// Since then it tells nothing of people, and never will again.
    pub personal_data_erased_at: Option<DateTime<Utc>>,
}

/// An order about to be stored for the first time.
#[derive(Clone, Debug)]
pub struct NewOrder {
    pub id: OrderId,
    pub business_id: BusinessId,
    pub mode: Mode,
    pub order_reference: String,
    pub idempotency_key: String,
    pub fingerprint: Fingerprint,
    /// [`Fingerprint::of_meaning`]
    pub meaning: Fingerprint,
    pub tracking_code: TrackingCode,
    pub order_source: String,
    pub payment_type: PaymentType,
    pub delivery_fee: Paise,
    pub cod_amount: Paise,
    pub details: Arc<Value>,
    pub receipt: Vec<u8>,
    pub created_at: DateTime<Utc>,
    /// The request that it comes from, and the key that was shown with it.
    pub request_id: RequestId,
    pub key_id: ApiKeyId,
}

/// What holds a reference or a key: enough to replay, refuse, drive on or take over.
#[derive(Clone, Debug)]
pub struct Claim {
    pub order_id: OrderId,
    pub business_id: BusinessId,
    pub placement: Placement,
    pub attempt: i32,
    pub order_reference: String,
    pub tracking_code: TrackingCode,
    pub status: DeliveryStatus,
    pub idempotency_key: String,
    pub fingerprint: Fingerprint,
    /// Sealed with the fingerprint; absent of orders before it was kept.
    pub meaning: Option<Fingerprint>,
    pub delivery_fee: Paise,
    pub receipt: Vec<u8>,
}

/// What a request says, as far as it decides whether it is the one that an order was placed with.
#[derive(Clone, Debug)]
pub struct Said {
    pub fingerprint: Fingerprint,
    pub meaning: Fingerprint,
    pub order_reference: Option<String>,
}

/// A placed order with what is kept of the request that it was accepted from.
#[derive(Clone, Debug)]
pub struct Accepted {
    pub order: Order,
    pub idempotency_key: String,
    /// Absent of orders placed before these were kept.
    pub request_id: Option<RequestId>,
    pub key_id: Option<ApiKeyId>,
}

/// One row of an order's timeline.
#[derive(Clone, Debug)]
pub struct OrderEvent {
    pub id: EventId,
    pub order_id: OrderId,
    pub business_id: BusinessId,
    pub kind: EventKind,
    pub sequence: i64,
    pub status: DeliveryStatus,
    pub cod_status: CodStatus,
    pub data: Value,
    pub occurred_at: DateTime<Utc>,
    pub recorded_at: DateTime<Utc>,
}

impl NewOrder {
    pub fn sealed_meaning(&self) -> Fingerprint {
        self.meaning.sealed_with(self.fingerprint)
    }

    /// The order that this becomes when it is placed as it is.
    pub fn into_placed(self) -> Order {
        Order {
            id: self.id,
            business_id: self.business_id,
            mode: self.mode,
            order_reference: self.order_reference,
            order_source: self.order_source,
            tracking_code: self.tracking_code,
            state: DeliveryState::new(self.payment_type),
            delivery_fee: self.delivery_fee,
            cod_amount: self.cod_amount,
            details: self.details,
            sequence: 1,
            driver: None,
            reason: None,
            cash: CashReports::default(),
            created_at: self.created_at,
            updated_at: self.created_at,
            personal_data_erased_at: None,
        }
    }
}

impl Claim {
    /// Whether a request says what the order was placed with. Of an order whose personal data was erased the body is not
    /// known any more, nor its hash; its reference is, and another one is another order.
    pub fn is_said_by(&self, said: &Said) -> bool {
        match self.fingerprint {
            Fingerprint::ERASED => said.order_reference.as_deref() == Some(&*self.order_reference),
            known => known == said.fingerprint || self.meaning == Some(said.meaning.sealed_with(known)),
        }
    }
}

impl Order {
    /// The cash that was reported, when it is not what was to be collected.
    pub fn cod_discrepancy(&self) -> Option<Paise> {
        self.cash.discrepancy(self.cod_amount)
    }

    /// By how much the cash that was reported is above what was to be collected; negative when it is below.
    pub fn cod_difference(&self) -> Option<Paise> {
        self.cod_discrepancy().and_then(|reported| reported.checked_sub(self.cod_amount))
    }

    /// What the wallet gives back, by an event that is on its way or was handled.
    pub fn refunded(&self) -> Paise {
        if self.mode == Mode::Live && self.state.refund_due() { self.delivery_fee } else { Paise::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;
    use domain::Entropy;
    use serde_json::json;

    use super::*;

    fn placed(cod_amount: i64) -> Order {
        let entropy = Entropy::seeded(1);
        let created_at = Utc.timestamp_opt(1_800_000_000, 0).unwrap();
        NewOrder {
            id: OrderId::first_of(created_at),
            business_id: BusinessId::first_of(created_at),
            mode: Mode::Live,
            order_reference: "SHOP-1".into(),
            idempotency_key: "key-1".into(),
            fingerprint: Fingerprint::of(&json!({})),
            meaning: Fingerprint::of_meaning(&json!({})),
            tracking_code: TrackingCode::generate(Mode::Live, &entropy),
            order_source: "shop".into(),
            payment_type: PaymentType::Cod,
            delivery_fee: Paise::new(4_900),
            cod_amount: Paise::new(cod_amount),
            details: Arc::new(json!({ "notes": "ring twice" })),
            receipt: Vec::new(),
            created_at,
            request_id: RequestId::first_of(created_at),
            key_id: ApiKeyId::first_of(created_at),
        }
        .into_placed()
    }

    #[test]
    fn placements_have_the_names_of_the_column() {
        for (placement, name) in [
            (Placement::PendingPayment, "pending_payment"),
            (Placement::Placed, "placed"),
            (Placement::Released, "released"),
        ] {
            assert_eq!(placement.as_str(), name);
            assert_eq!(name.parse(), Ok(placement));
        }
    }

    #[test]
    fn a_new_order_has_its_first_event_and_no_cash() {
        let order = placed(25_000);
        assert_eq!((order.sequence, order.cash, order.cod_discrepancy()), (1, CashReports::default(), None));
        assert_eq!((order.delivery_fee, order.cod_amount), (Paise::new(4_900), Paise::new(25_000)));
    }

    #[test]
    fn cash_is_held_against_what_this_order_was_to_collect() {
        let mut order = placed(25_000);
        order.cash.note(EventKind::CodCollected, Some(Paise::new(24_000)));
        assert_eq!(order.cod_discrepancy(), Some(Paise::new(24_000)));
        assert_eq!(order.cod_difference(), Some(Paise::new(-1_000)));
        order.cash.note(EventKind::CodCollected, Some(Paise::new(25_000)));
        assert_eq!((order.cod_discrepancy(), order.cod_difference()), (None, None));
    }

    #[test]
    fn a_live_order_that_ends_before_its_pickup_gives_its_fee_back() {
        let mut order = placed(25_000);
        assert_eq!(order.refunded(), Paise::ZERO);
        order.state = order.state.apply(EventKind::OrderCancelled).unwrap().to;
        assert_eq!((order.refunded(), order.state.cod), (Paise::new(4_900), CodStatus::NotApplicable));
        order.mode = Mode::Test;
        assert_eq!(order.refunded(), Paise::ZERO);
    }
}
