//! Notices: the webhooks that Razorpay sends about payments. The signature covers the received bytes, so it is checked before
//! they are parsed.

use base16ct::{lower, mixed};
use domain::Paise;
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use settings::Secret;
use sha2::{Digest, Sha256};

use crate::domain::{Notice, Payment, Reversal, ReversalStep};

/// A notice as received.
#[derive(Clone)]
pub(crate) struct RawNotice {
    /// HMAC-SHA256 of the body, in hexadecimal.
    pub(crate) signature: String,
    pub(crate) body: String,
}

/// Why a notice is rejected. Nothing is stored then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoticeError {
    #[error("the notice is not signed by the payment provider")]
    Unsigned,
    #[error("the notice is malformed")]
    Malformed,
}

#[derive(Deserialize)]
struct Event {
    event: String,
    #[serde(default)]
    payload: Payload,
}

#[derive(Default, Deserialize)]
struct Payload {
    payment: Option<Wrapped<PaymentEntity>>,
    order: Option<Wrapped<OrderEntity>>,
    refund: Option<Wrapped<RefundEntity>>,
    dispute: Option<Wrapped<DisputeEntity>>,
}

#[derive(Deserialize)]
struct Wrapped<T> {
    entity: T,
}

/// A payment in notices and in responses.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PaymentEntity {
    id: String,
    amount: i64,
    currency: String,
    status: String,
    order_id: Option<String>,
}

#[derive(Deserialize)]
struct OrderEntity {
    id: String,
}

#[derive(Deserialize)]
struct RefundEntity {
    id: String,
    payment_id: String,
    amount: i64,
    currency: String,
    status: String,
}

#[derive(Deserialize)]
struct DisputeEntity {
    id: String,
    payment_id: String,
    /// What the provider has taken for this dispute so far.
    amount_deducted: i64,
    currency: String,
    status: String,
}

impl From<RefundEntity> for Reversal {
    fn from(refund: RefundEntity) -> Self {
        let step = match refund.status.as_str() {
            "processed" => ReversalStep::Taken,
            "failed" => ReversalStep::GivenBack,
            _ => ReversalStep::Announced,
        };
        Self {
            reference: refund.id,
            payment: refund.payment_id,
            amount: Paise::new(refund.amount),
            currency: refund.currency,
            step,
        }
    }
}

impl From<DisputeEntity> for Reversal {
    fn from(dispute: DisputeEntity) -> Self {
        let step = match dispute.status.as_str() {
            "won" => ReversalStep::GivenBack,
            _ if dispute.amount_deducted > 0 => ReversalStep::Taken,
            _ => ReversalStep::Announced,
        };
        Self {
            reference: dispute.id,
            payment: dispute.payment_id,
            amount: Paise::new(dispute.amount_deducted),
            currency: dispute.currency,
            step,
        }
    }
}

impl PaymentEntity {
    pub(super) fn is_captured(&self) -> bool {
        self.status == "captured"
    }

    pub(super) fn is_for(&self, order: &str) -> bool {
        self.order_id.as_deref() == Some(order)
    }

    pub(super) fn into_payment(self) -> Payment {
        Payment { reference: self.id, amount: Paise::new(self.amount), currency: self.currency }
    }
}

/// The maximum length of the provider's ids and event names.
const NAME_MAX: usize = 128;

/// Checks the signature in constant time, and parses the notice.
pub(super) fn verify(raw: &RawNotice, secret: &Secret) -> Result<Notice, NoticeError> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes())
        .unwrap_or_else(|_| unreachable!("HMAC accepts keys of any length"));
    mac.update(raw.body.as_bytes());
    let signature = mixed::decode_vec(&raw.signature).map_err(|_| NoticeError::Unsigned)?;
    mac.verify_slice(&signature).map_err(|_| NoticeError::Unsigned)?;
    let event: Event = serde_json::from_str(&raw.body).map_err(|_| NoticeError::Malformed)?;
    let payment = event.payload.payment.map(|payment| payment.entity);
    let order = event.payload.order.map(|order| order.entity.id);
    let order_of_payment = payment.as_ref().and_then(|payment| payment.order_id.clone());
    if matches!((&order, &order_of_payment), (Some(order), Some(other)) if order != other) {
        return Err(NoticeError::Malformed);
    }
    let refund = event.payload.refund.map(|refund| refund.entity.into());
    let reversal: Option<Reversal> = refund.or(event.payload.dispute.map(|dispute| dispute.entity.into()));
    let payment_id = payment.as_ref().map_or("", |payment| payment.id.as_str());
    let reversal_id = reversal.as_ref().map_or("", |reversal| reversal.reference.as_str());
    let reference = order.as_ref().or(order_of_payment.as_ref()).map_or("", String::as_str);
    // PostgreSQL stores no NUL.
    let is_unusable = |name: &&str| name.len() > NAME_MAX || name.contains('\0');
    if [event.event.as_str(), payment_id, reversal_id, reference].iter().any(is_unusable) {
        return Err(NoticeError::Malformed);
    }
    if reversal.as_ref().is_some_and(|reversal| reversal.payment != payment_id || reversal_id.is_empty()) {
        return Err(NoticeError::Malformed);
    }
    let reports_capture = matches!(event.event.as_str(), "order.paid" | "payment.captured");
    Ok(Notice {
        event_id: format!("sha256:{}", lower::encode_string(&Sha256::digest(raw.body.as_bytes()))),
        kind: event.event,
        reference: order.or(order_of_payment),
        captured: reports_capture && payment.as_ref().is_some_and(PaymentEntity::is_captured),
        payment: payment.map(PaymentEntity::into_payment),
        reversal,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn secret() -> Secret {
        Secret::new("whsec")
    }

    fn sign(body: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(b"whsec").unwrap();
        mac.update(body.as_bytes());
        lower::encode_string(&mac.finalize().into_bytes())
    }

    fn raw(body: &str) -> RawNotice {
        RawNotice { signature: sign(body), body: body.into() }
    }

    fn paid(event: &str, status: &str) -> String {
        json!({
            "entity": "event", "event": event, "contains": ["payment", "order"], "created_at": 1,
            "payload": {
                "payment": {"entity": {
                    "id": "pay_1", "amount": 50_000, "currency": "INR", "status": status, "order_id": "order_1",
                    "email": "someone@shop.example", "fee": 2,
                }},
                "order": {"entity": {"id": "order_1", "amount": 50_000, "status": "paid"}},
            },
        })
        .to_string()
    }

    #[test]
    fn a_signature_equals_that_of_openssl() {
        // echo -n '{"a":1}' | openssl dgst -sha256 -hmac whsec
        assert_eq!(sign("{\"a\":1}"), "19373ef0e8c66f206e49d251e4402291615bbce6ef00922e94a47a213fb76ee1");
    }

    #[test]
    fn a_signed_payment_is_parsed() {
        let notice = verify(&raw(&paid("order.paid", "captured")), &secret()).unwrap();
        assert_eq!(notice.kind, "order.paid");
        assert_eq!(notice.reference.as_deref(), Some("order_1"));
        assert!(notice.captured);
        let payment =
            Payment { reference: "pay_1".into(), amount: Paise::new(50_000), currency: "INR".into() };
        assert_eq!(notice.payment, Some(payment));
    }

    #[test]
    fn the_event_id_is_the_hash_of_the_signed_bytes() {
        let id = |body: &str| verify(&raw(body), &secret()).unwrap().event_id;
        // echo -n '{"event":"x"}' | sha256sum
        assert_eq!(
            id("{\"event\":\"x\"}"),
            "sha256:ebc2c4ea03938ee05e18c1a712d9fa02de923d6f2db34b68fe1f8dcf651e479d"
        );
        let (order_paid, captured) = (paid("order.paid", "captured"), paid("payment.captured", "captured"));
        assert_eq!(id(&order_paid), id(&order_paid));
        assert_ne!(id(&order_paid), id(&captured));
        assert!(id(&order_paid).len() <= NAME_MAX);
    }

    #[test]
    fn only_captured_payments_count() {
        for (event, status) in [
            ("order.paid", "authorized"),
            ("payment.captured", "failed"),
            ("payment.failed", "failed"),
            ("payment.authorized", "captured"),
            ("refund.processed", "captured"),
        ] {
            assert!(!verify(&raw(&paid(event, status)), &secret()).unwrap().captured, "{event} {status}");
        }
        let other = json!({"event": "settlement.processed", "payload": {"settlement": {}}}).to_string();
        let notice = verify(&raw(&other), &secret()).unwrap();
        assert_eq!((notice.reference, notice.payment), (None, None));
    }

    fn about(event: &str, entity: &Value) -> String {
        let payment = json!({"id": "pay_1", "amount": 50_000, "currency": "INR", "status": "captured", "order_id": "order_1"});
        let kind = if event.starts_with("refund.") { "refund" } else { "dispute" };
        json!({"event": event, "payload": {"payment": {"entity": payment}, kind: {"entity": entity}}})
            .to_string()
    }

    #[test]
    fn refunds_and_disputes_say_whether_the_money_was_taken() {
        use ReversalStep::{Announced, GivenBack, Taken};
        let refund = |status: &str| json!({"id": "rfnd_1", "payment_id": "pay_1", "amount": 700, "currency": "INR", "status": status});
        let dispute = |status: &str, deducted: i64| {
            json!({"id": "disp_1", "payment_id": "pay_1", "amount": 700, "amount_deducted": deducted,
                "currency": "INR", "status": status})
        };
        for (event, entity, reference, amount, step) in [
            ("refund.created", refund("pending"), "rfnd_1", 700, Announced),
            ("refund.processed", refund("processed"), "rfnd_1", 700, Taken),
            ("refund.failed", refund("failed"), "rfnd_1", 700, GivenBack),
            ("payment.dispute.created", dispute("open", 0), "disp_1", 0, Announced),
            ("payment.dispute.created", dispute("open", 700), "disp_1", 700, Taken),
            ("payment.dispute.lost", dispute("lost", 700), "disp_1", 700, Taken),
            ("payment.dispute.won", dispute("won", 700), "disp_1", 700, GivenBack),
        ] {
            let notice = verify(&raw(&about(event, &entity)), &secret()).unwrap();
            assert_eq!((notice.reference.as_deref(), notice.captured), (Some("order_1"), false), "{event}");
            let reversal = notice.reversal.unwrap();
            assert_eq!(
                (reversal.reference.as_str(), reversal.amount.get(), reversal.step),
                (reference, amount, step)
            );
        }
        let mut foreign = refund("processed");
        foreign["payment_id"] = json!("pay_2");
        let foreign = verify(&raw(&about("refund.processed", &foreign)), &secret());
        assert_eq!(foreign, Err(NoticeError::Malformed));
    }

    #[test]
    fn an_unsigned_notice_is_rejected() {
        let body = paid("order.paid", "captured");
        let good = sign(&body);
        let mut wrong = good.clone();
        wrong.replace_range(0..1, if good.starts_with('0') { "1" } else { "0" });
        for signature in ["", "0", "zz", "00", "é0", &good[..62], &format!("{good}00"), &wrong] {
            let forged = RawNotice { signature: signature.to_owned(), ..raw(&body) };
            assert_eq!(verify(&forged, &secret()), Err(NoticeError::Unsigned), "{signature}");
        }
        let changed = RawNotice { body: body.replace("50000", "90000"), ..raw(&body) };
        assert_eq!(verify(&changed, &secret()), Err(NoticeError::Unsigned));
        assert_eq!(verify(&raw(&body), &Secret::new("other")), Err(NoticeError::Unsigned));
        let upper = RawNotice { signature: good.to_uppercase(), ..raw(&body) };
        assert!(verify(&upper, &secret()).is_ok());
    }

    #[test]
    fn a_signed_but_malformed_notice_is_rejected() {
        let two_orders = paid("order.paid", "captured").replacen("order_1", "order_2", 1);
        let long = paid("order.paid", "captured").replace("pay_1", &"p".repeat(129));
        for body in ["", "{}", "[]", "x", "{\"event\": 1}", &two_orders, &long] {
            assert_eq!(verify(&raw(body), &secret()), Err(NoticeError::Malformed), "{body}");
        }
    }
}
