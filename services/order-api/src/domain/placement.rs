//! Placing an order: what happens to a request whose reference or Idempotency-Key an existing order already has.

use chrono::{DateTime, Utc};
use domain::{
    BusinessId, DeliveryState, DeliveryStatus, Mode, OrderId, Paise, PaymentType, TrackingCode, composed,
};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::{Fingerprint, OrderSummary};

/// The progress of a row of `orders` towards a placed order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Placement {
    /// Stored. Its debit is not yet known to be posted. Reads, cancellations and the fleet do not see it.
    PendingPayment,
    /// An order.
    Placed,
    /// Its debit was rejected or voided. Its reference and key are free for another request.
    Released,
}

impl Placement {
    /// A test order is placed immediately. A live order waits for its payment.
    pub fn of_new(mode: Mode) -> Self {
        match mode {
            Mode::Test => Self::Placed,
            Mode::Live => Self::PendingPayment,
        }
    }

    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The values that identify a request.
#[derive(Clone, Debug)]
pub struct RequestIdentity {
    pub idempotency_key: String,
    pub fingerprint: Fingerprint,
    /// [`Fingerprint::of_meaning`]
    pub meaning: Fingerprint,
    /// Absent when the body has no valid reference.
    pub order_reference: Option<String>,
}

/// The order that has a reference or an Idempotency-Key: enough to replay, refuse, resume or take it over.
#[derive(Clone, Debug)]
pub struct ExistingOrder {
    pub order_id: OrderId,
    pub business_id: BusinessId,
    pub placement: Placement,
    pub attempt: i32,
    pub order_reference: String,
    pub tracking_code: TrackingCode,
    pub status: DeliveryStatus,
    pub idempotency_key: String,
    pub fingerprint: Fingerprint,
    /// Bound to the fingerprint. `None` once the personal data is erased.
    pub meaning: Option<Fingerprint>,
    pub payment_type: PaymentType,
    pub delivery_fee: Paise,
    pub cod_amount: Paise,
    pub receipt: Vec<u8>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// What to do with a request that meets an existing order (SPECIFICATION §10.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Answer with the stored receipt.
    Replay,
    /// Continue the payment of the earlier request.
    Resume,
    /// Reuse the row for this request, with the next attempt.
    TakeOver,
    /// 422 `idempotency_key_reused`
    RefuseReusedKey,
    /// 409 `order_reference_exists`
    RefuseExistingReference,
    /// 409 `order_in_progress`
    RefuseInProgress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SentWith {
    SameKey,
    SameKeyOtherBody,
    OtherKey,
}

impl ExistingOrder {
    /// The decision for a request with this order's reference or Idempotency-Key.
    pub fn resolve(&self, request: &RequestIdentity) -> Resolution {
        match (self.placement, self.sent_with(request)) {
            (Placement::Released, _) => Resolution::TakeOver,
            (Placement::Placed, SentWith::SameKey) => Resolution::Replay,
            (Placement::Placed, SentWith::OtherKey) => Resolution::RefuseExistingReference,
            (Placement::PendingPayment, SentWith::SameKey) => Resolution::Resume,
            (Placement::PendingPayment, SentWith::OtherKey) => Resolution::RefuseInProgress,
            (Placement::Placed | Placement::PendingPayment, SentWith::SameKeyOtherBody) => {
                Resolution::RefuseReusedKey
            }
        }
    }

    /// This order, which waits for its payment, once it is placed. Only live orders wait.
    pub fn placed(&self) -> OrderSummary {
        OrderSummary {
            id: self.order_id,
            business_id: self.business_id,
            mode: Mode::Live,
            order_reference: self.order_reference.clone(),
            tracking_code: self.tracking_code.clone(),
            state: DeliveryState::new(self.payment_type),
            delivery_fee: self.delivery_fee,
            cod_amount: self.cod_amount,
            sequence: 1,
            updated_at: self.updated_at,
        }
    }

    fn sent_with(&self, request: &RequestIdentity) -> SentWith {
        if self.idempotency_key != request.idempotency_key {
            SentWith::OtherKey
        } else if self.has_body_of(request) {
            SentWith::SameKey
        } else {
            SentWith::SameKeyOtherBody
        }
    }

    /// The body of an erased order and its hash are unknown. Its reference is known, so that is compared instead.
    fn has_body_of(&self, request: &RequestIdentity) -> bool {
        match self.fingerprint {
            Fingerprint::ERASED => {
                request.order_reference.as_deref().map(composed) == Some(composed(&self.order_reference))
            }
            known => known == request.fingerprint || self.meaning == Some(request.meaning.bound_to(known)),
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Entropy;
    use serde_json::{Value, json};

    use super::*;

    fn request(key: &str, body: &Value) -> RequestIdentity {
        RequestIdentity {
            idempotency_key: key.to_owned(),
            fingerprint: Fingerprint::of(body),
            meaning: Fingerprint::of_meaning(body.clone()),
            order_reference: body["orderReference"].as_str().map(str::to_owned),
        }
    }

    fn existing(placement: Placement, request: &RequestIdentity) -> ExistingOrder {
        ExistingOrder {
            order_id: OrderId::first_of(DateTime::UNIX_EPOCH),
            business_id: BusinessId::first_of(DateTime::UNIX_EPOCH),
            placement,
            attempt: 1,
            order_reference: request.order_reference.clone().unwrap_or_default(),
            tracking_code: TrackingCode::generate(Mode::Live, &Entropy::seeded(1)),
            status: DeliveryStatus::Created,
            idempotency_key: request.idempotency_key.clone(),
            fingerprint: request.fingerprint,
            meaning: Some(request.meaning.bound_to(request.fingerprint)),
            payment_type: PaymentType::Cod,
            delivery_fee: Paise::new(4_900),
            cod_amount: Paise::new(25_000),
            receipt: Vec::new(),
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    fn body(name: &str) -> Value {
        json!({ "orderReference": "shop-1", "customer": { "name": name } })
    }

    #[test]
    fn each_placement_and_key_has_its_resolution() {
        use Resolution::*;
        let first = request("key", &body("Asha"));
        let same = request("key", &body(" Asha "));
        let other_body = request("key", &body("Ravi"));
        let other_key = request("other key", &body("Asha"));
        for (placement, requests) in [
            (Placement::Placed, [Replay, Replay, RefuseReusedKey, RefuseExistingReference]),
            (Placement::PendingPayment, [Resume, Resume, RefuseReusedKey, RefuseInProgress]),
            (Placement::Released, [TakeOver, TakeOver, TakeOver, TakeOver]),
        ] {
            let order = existing(placement, &first);
            let resolved = [&first, &same, &other_body, &other_key].map(|request| order.resolve(request));
            assert_eq!(resolved, requests, "{placement}");
        }
    }

    #[test]
    fn an_erased_order_is_compared_by_its_reference() {
        let first = request("key", &body("Asha"));
        let placed = existing(Placement::Placed, &first);
        let order = ExistingOrder { fingerprint: Fingerprint::ERASED, meaning: None, ..placed };
        assert_eq!(order.resolve(&request("key", &body("Ravi"))), Resolution::Replay);
        for other in [json!({ "orderReference": "shop-2" }), json!({})] {
            assert_eq!(order.resolve(&request("key", &other)), Resolution::RefuseReusedKey, "{other}");
        }
    }

    #[test]
    fn an_order_is_placed_with_its_stored_values() {
        let order = existing(Placement::PendingPayment, &request("key", &body("Asha")));
        let placed = order.placed();
        assert_eq!((placed.mode, placed.sequence, placed.updated_at), (Mode::Live, 1, order.updated_at));
        assert_eq!(placed.state, DeliveryState::new(PaymentType::Cod));
        assert_eq!((placed.delivery_fee, placed.cod_amount), (order.delivery_fee, order.cod_amount));
        assert_eq!(placed.order_reference, order.order_reference);
        assert_eq!(placed.tracking_code, order.tracking_code);
    }

    #[test]
    fn placements_have_the_names_of_the_column() {
        let names: Vec<_> = Placement::VARIANTS.iter().map(|placement| placement.as_str()).collect();
        assert_eq!(names, ["pending_payment", "placed", "released"]);
        for placement in Placement::VARIANTS {
            assert_eq!(placement.as_str().parse(), Ok(*placement));
        }
    }
}
