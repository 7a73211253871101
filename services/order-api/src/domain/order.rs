//! Orders and their events.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::{
    ApiKeyId, BusinessId, CodStatus, DeliveryState, DeliveryStatus, EventId, EventKind, Mode, OrderId, Paise,
    PaymentType, RequestId, TrackingCode,
};
use serde_json::Value;
use url::Url;

use super::{CashReports, Decided, Fingerprint, PaidAttempts, Placement};

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
    /// The fleet's code of the latest failure.
    pub reason_code: Option<String>,
    /// About the latest failure.
    pub decided: Option<Decided>,
    /// A failure keeps it.
    pub paid: PaidAttempts,
    pub cash: CashReports,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// Its personal data was erased then, for good.
    pub personal_data_erased_at: Option<DateTime<Utc>>,
}

/// An order that is not stored yet.
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
    /// The request that created it.
    pub request_id: RequestId,
    pub key_id: ApiKeyId,
}

/// What the events of a placed order state of it.
#[derive(Clone, Debug)]
pub struct OrderSummary {
    pub id: OrderId,
    pub business_id: BusinessId,
    pub mode: Mode,
    pub order_reference: String,
    pub tracking_code: TrackingCode,
    pub state: DeliveryState,
    pub delivery_fee: Paise,
    pub cod_amount: Paise,
    pub sequence: i64,
    pub updated_at: DateTime<Utc>,
}

/// A placed order and the stored part of the request that created it.
#[derive(Clone, Debug)]
pub struct AcceptedOrder {
    pub order: Order,
    pub idempotency_key: String,
    pub request_id: RequestId,
    pub key_id: ApiKeyId,
}

/// The amounts of an order, for the reconciliation with the ledger of the wallet.
#[derive(Clone, Debug)]
pub struct OrderFinancials {
    pub id: OrderId,
    pub business_id: BusinessId,
    pub mode: Mode,
    pub placement: Placement,
    pub delivery_fee: Paise,
    pub cod_amount: Paise,
    pub state: DeliveryState,
    pub changed_at: DateTime<Utc>,
}

/// A row of an order's timeline.
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

/// Builds tracking URLs from the public origin of this service.
#[derive(Clone, Debug)]
pub struct TrackingUrls {
    origin: String,
}

impl TrackingUrls {
    pub fn new(public_url: &Url) -> Self {
        Self { origin: public_url.as_str().trim_end_matches('/').to_owned() }
    }

    /// The page for everyone who has this code.
    pub fn of(&self, code: &TrackingCode) -> String {
        format!("{}/track/{code}", self.origin)
    }
}

impl NewOrder {
    /// As it is stored.
    pub fn bound_meaning(&self) -> Fingerprint {
        self.meaning.bound_to(self.fingerprint)
    }

    /// The placed order.
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
            reason_code: None,
            decided: None,
            paid: PaidAttempts::default(),
            cash: CashReports::default(),
            created_at: self.created_at,
            updated_at: self.created_at,
            personal_data_erased_at: None,
        }
    }
}

impl Order {
    pub fn summary(&self) -> OrderSummary {
        OrderSummary {
            id: self.id,
            business_id: self.business_id,
            mode: self.mode,
            order_reference: self.order_reference.clone(),
            tracking_code: self.tracking_code.clone(),
            state: self.state,
            delivery_fee: self.delivery_fee,
            cod_amount: self.cod_amount,
            sequence: self.sequence,
            updated_at: self.updated_at,
        }
    }

    /// The number of the attempt that follows the failed ones. Release 1.0.0 counted no failure.
    pub fn next_attempt(&self) -> u32 {
        self.state.failed_attempts.max(1).saturating_add(1)
    }

    /// Whether the next attempt had begun and taken its fee before its driver dropped out.
    pub fn is_next_paid(&self) -> bool {
        self.paid.latest == self.next_attempt()
    }

    /// From the business to the driver of another attempt. It is one of the notes, so that it is erased with them.
    pub fn reattempt_note(&self) -> Option<&str> {
        self.details.pointer("/notes/reattemptNote").and_then(Value::as_str)
    }

    pub fn set_reattempt_note(&mut self, note: Option<String>) {
        let Some(notes) = Arc::make_mut(&mut self.details).get_mut("notes").and_then(Value::as_object_mut)
        else {
            return;
        };
        match note {
            Some(note) => notes.insert("reattemptNote".to_owned(), note.into()),
            None => notes.remove("reattemptNote"),
        };
    }

    /// The reported cash, when it differs from the expected amount.
    pub fn cod_discrepancy(&self) -> Option<Paise> {
        self.cash.discrepancy(self.cod_amount)
    }

    /// The reported cash minus the expected amount, when they differ. `None` once the whole amount is settled, unless more was
    /// collected, as in wallet.
    pub fn cod_difference(&self) -> Option<Paise> {
        let expected = Some(self.cod_amount);
        let is_paid = self.cash.settled == expected && self.cash.collected <= expected;
        let reported = self.cod_discrepancy().filter(|_| !is_paid)?;
        reported.checked_sub(self.cod_amount)
    }

    /// The amount that the wallet has refunded or is about to refund.
    pub fn refunded(&self) -> Paise {
        if self.mode == Mode::Live && self.state.refund_due() { self.delivery_fee } else { Paise::ZERO }
    }
}

/// An order for tests.
#[cfg(test)]
pub(super) fn placed(cod_amount: i64) -> Order {
    use serde_json::json;

    let entropy = domain::Entropy::seeded(1);
    let created_at = DateTime::from_timestamp(1_800_000_000, 0).unwrap_or_default();
    NewOrder {
        id: OrderId::first_of(created_at),
        business_id: BusinessId::first_of(created_at),
        mode: Mode::Live,
        order_reference: "SHOP-1".into(),
        idempotency_key: "key-1".into(),
        fingerprint: Fingerprint::of(&json!({})),
        meaning: Fingerprint::of_meaning(json!({})),
        tracking_code: TrackingCode::generate(Mode::Live, &entropy),
        order_source: "shop".into(),
        payment_type: PaymentType::Cod,
        delivery_fee: Paise::new(4_900),
        cod_amount: Paise::new(cod_amount),
        details: Arc::new(json!({ "notes": { "customerNote": "ring twice" } })),
        receipt: Vec::new(),
        created_at,
        request_id: RequestId::first_of(created_at),
        key_id: ApiKeyId::first_of(created_at),
    }
    .into_placed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_order_has_its_first_event_and_no_cash() {
        let order = placed(25_000);
        assert_eq!((order.sequence, order.cash, order.cod_discrepancy()), (1, CashReports::default(), None));
        assert_eq!((order.delivery_fee, order.cod_amount), (Paise::new(4_900), Paise::new(25_000)));
    }

    #[test]
    fn reported_cash_is_compared_with_the_expected_amount() {
        let mut order = placed(25_000);
        order.cash.record(EventKind::CodCollected, Some(Paise::new(24_000)));
        assert_eq!(order.cod_discrepancy(), Some(Paise::new(24_000)));
        assert_eq!(order.cod_difference(), Some(Paise::new(-1_000)));
        order.cash.record(EventKind::CodHandedOver, Some(Paise::new(24_000)));
        for (settled, difference) in [(25_000, None), (26_000, Some(1_000)), (24_000, Some(-1_000))] {
            order.cash.record(EventKind::CodSettled, Some(Paise::new(settled)));
            assert_eq!(order.cod_difference(), difference.map(Paise::new), "{settled}");
        }
        // The step that was short stays visible.
        order.cash.record(EventKind::CodSettled, Some(Paise::new(25_000)));
        assert_eq!(order.cod_discrepancy(), Some(Paise::new(24_000)));
        // What was collected is owed.
        let paise = |amount| Some(Paise::new(amount));
        for handed_over in [26_000, 25_000] {
            let handed_over = paise(handed_over);
            order.cash = CashReports { collected: paise(26_000), handed_over, settled: paise(25_000) };
            assert_eq!(order.cod_difference(), paise(1_000), "{handed_over:?}");
        }
        order.cash = CashReports::default();
        order.cash.record(EventKind::CodCollected, Some(Paise::new(25_000)));
        assert_eq!((order.cod_discrepancy(), order.cod_difference()), (None, None));
    }

    #[test]
    fn a_live_order_that_ends_before_its_pickup_is_refunded() {
        let mut order = placed(25_000);
        assert_eq!(order.refunded(), Paise::ZERO);
        order.state = order.state.apply(EventKind::OrderCancelled, 1).unwrap();
        assert_eq!((order.refunded(), order.state.cod), (Paise::new(4_900), CodStatus::NotApplicable));
        order.mode = Mode::Test;
        assert_eq!(order.refunded(), Paise::ZERO);
    }

    #[test]
    fn a_note_for_another_attempt_is_among_the_notes() {
        let mut order = placed(0);
        assert_eq!(order.reattempt_note(), None);
        order.set_reattempt_note(Some("Ring at the gate".into()));
        assert_eq!(order.reattempt_note(), Some("Ring at the gate"));
        order.set_reattempt_note(None);
        assert_eq!(*order.details, *placed(0).details);
    }
}
