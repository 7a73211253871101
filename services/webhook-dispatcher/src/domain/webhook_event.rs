//! Events as endpoints receive them (SPECIFICATION §2.7). The body is serialised once: the same
//! bytes are stored, signed and sent at every attempt.

use chrono::{DateTime, Utc};
use domain::{
    BusinessId, Clock, CodStatus, DeliveryStatus, Entropy, EventId, EventKind, Mode, OrderId, TrackingCode,
};
use events::{Envelope, OrderEvent, OrderSnapshot, ProgressData, WalletLowBalance};
use telemetry::TraceContext;
use webhook_body::WebhookBody;

/// An event from the broker, with its trace.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    pub envelope: Envelope,
    pub trace: Option<TraceContext>,
}

impl Incoming {
    /// The form that may be stored after the erasure of its order.
    pub(crate) fn without_personal_data(mut self) -> Self {
        if let events::Body::Order(event) = &mut self.envelope.body {
            event.data = std::mem::take(&mut event.data).without_personal_data();
        }
        self
    }
}

/// The subject of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Subject {
    pub business_id: BusinessId,
    pub kind: EventKind,
    pub mode: Mode,
}

impl Subject {
    /// None for events that are no webhooks; the queue is not bound to them.
    pub(crate) fn of(envelope: &Envelope) -> Option<Self> {
        let business_id = envelope.business_id;
        match &envelope.body {
            events::Body::Order(event) => Some(Self { business_id, kind: event.event, mode: event.mode }),
            // Test orders do not use the wallet.
            events::Body::WalletLowBalance(_) => {
                Some(Self { business_id, kind: EventKind::WalletLowBalance, mode: Mode::Live })
            }
            _ => None,
        }
    }
}

/// An event for the endpoints that subscribed to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebhookEvent {
    pub id: EventId,
    pub business_id: BusinessId,
    pub kind: EventKind,
    pub mode: Mode,
    /// None for an event that belongs to no order: it waits for no other event.
    pub position: Option<Position>,
    pub order_reference: Option<String>,
    /// When we recorded the event of an order; when any other event occurred. Only for the lag of the first attempt: the
    /// body has the time that the fleet reported.
    pub occurred_at: DateTime<Utc>,
    pub body: Vec<u8>,
}

/// The position of an event among those of its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub order_id: OrderId,
    pub sequence: i64,
}

impl WebhookEvent {
    /// None for events without a [`Subject`].
    ///
    /// # Errors
    /// When the body cannot be serialised.
    pub(crate) fn of(envelope: &Envelope) -> Result<Option<Self>, serde_json::Error> {
        let Some(subject) = Subject::of(envelope) else { return Ok(None) };
        match &envelope.body {
            events::Body::Order(event) => Self::of_order(envelope, event).map(Some),
            events::Body::WalletLowBalance(data) => Self::of_no_order(envelope, subject, data).map(Some),
            _ => Ok(None),
        }
    }

    fn of_order(envelope: &Envelope, event: &OrderEvent) -> Result<Self, serde_json::Error> {
        let body = WebhookBody {
            id: envelope.id,
            event: event.event,
            sequence: Some(event.sequence),
            mode: event.mode,
            occurred_at: envelope.occurred_at,
            order: Some(&event.order),
            data: &event.data,
        };
        Ok(Self {
            id: envelope.id,
            business_id: envelope.business_id,
            kind: event.event,
            mode: event.mode,
            position: Some(Position { order_id: event.order.id, sequence: event.sequence }),
            order_reference: Some(event.order.order_reference.clone()),
            // The metric of the first attempt's lag needs our clock, not the fleet's.
            occurred_at: envelope.recorded_at(),
            body: body.render()?,
        })
    }

    fn of_no_order(
        envelope: &Envelope,
        Subject { business_id, kind, mode }: Subject,
        data: &WalletLowBalance,
    ) -> Result<Self, serde_json::Error> {
        let body = WebhookBody {
            id: envelope.id,
            event: kind,
            sequence: None,
            mode,
            occurred_at: envelope.occurred_at,
            order: None,
            data,
        };
        Ok(Self {
            id: envelope.id,
            business_id,
            kind,
            mode,
            position: None,
            order_reference: None,
            occurred_at: envelope.occurred_at,
            body: body.render()?,
        })
    }

    /// A connection test. Its order does not exist, and its tracking URL uses a reserved domain.
    ///
    /// # Errors
    /// When the body cannot be serialised.
    pub(crate) fn of_test(
        business_id: BusinessId,
        clock: &Clock,
        entropy: &Entropy,
    ) -> Result<Self, serde_json::Error> {
        Self::synthetic(business_id, clock, entropy, &ProgressData::default())
    }

    /// As [`WebhookEvent::of_test`], to be sent with a wrong signature. Its text explains that to a developer who reads
    /// it.
    ///
    /// # Errors
    /// When the body cannot be serialised.
    pub(crate) fn of_forgery(
        business_id: BusinessId,
        clock: &Clock,
        entropy: &Entropy,
    ) -> Result<Self, serde_json::Error> {
        let reason = "The signature of this test is wrong on purpose: refuse it with 401.".to_owned();
        Self::synthetic(
            business_id,
            clock,
            entropy,
            &ProgressData { reason: Some(reason), ..ProgressData::default() },
        )
    }

    fn synthetic(
        business_id: BusinessId,
        clock: &Clock,
        entropy: &Entropy,
        data: &ProgressData,
    ) -> Result<Self, serde_json::Error> {
        let (id, occurred_at) = (EventId::generate(clock, entropy), clock.now());
        let (kind, mode) = (EventKind::WebhookTest, Mode::Test);
        let tracking_code = TrackingCode::generate(mode, entropy);
        let order = OrderSnapshot {
            id: OrderId::generate(clock, entropy),
            order_reference: "webhook-test".to_owned(),
            tracking_url: format!("https://tracking.example/track/{tracking_code}"),
            tracking_code,
            status: DeliveryStatus::Created,
            cod_status: CodStatus::NotApplicable,
        };
        let body =
            WebhookBody { id, event: kind, sequence: Some(1), mode, occurred_at, order: Some(&order), data };
        let body = body.render()?;
        let order_reference = Some(order.order_reference);
        Ok(Self { id, business_id, kind, mode, position: None, order_reference, occurred_at, body })
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use domain::Paise;
    use events::{Body as EnvelopeBody, Driver};
    use serde_json::{Value, json};

    use super::*;

    fn envelope(body: EnvelopeBody) -> Envelope {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(1));
        Envelope {
            id: EventId::generate(&clock, &entropy),
            business_id: BusinessId::generate(&clock, &entropy),
            occurred_at: clock.now(),
            body,
        }
    }

    #[test]
    fn an_order_s_body_has_the_specified_form() {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(2));
        let event = OrderEvent {
            event: EventKind::DriverAssigned,
            sequence: 2,
            mode: Mode::Live,
            order: OrderSnapshot {
                id: OrderId::generate(&clock, &entropy),
                order_reference: "shop-1".into(),
                tracking_code: TrackingCode::generate(Mode::Live, &entropy),
                tracking_url: "https://track.example/x".into(),
                status: DeliveryStatus::DriverAssigned,
                cod_status: CodStatus::Pending,
            },
            data: ProgressData {
                driver: Some(Driver { name: "Asha".into(), phone: None, vehicle: None }),
                ..ProgressData::default()
            },
            delivery_fee_paise: Paise::new(4_900),
            refund_due: false,
            cod_expected_paise: None,
            recorded_at: Some(DateTime::UNIX_EPOCH + TimeDelta::days(300)),
        };
        let envelope = envelope(EnvelopeBody::Order(Box::new(event.clone())));
        let made = WebhookEvent::of(&envelope).unwrap().unwrap();
        let body: Value = serde_json::from_slice(&made.body).unwrap();
        assert_eq!(
            body,
            json!({
                "id": envelope.id, "event": "driver.assigned", "sequence": 2, "mode": "live",
                "occurredAt": "1970-01-01T00:00:00.000Z",
                "order": {
                    "id": event.order.id, "serviceOrderId": event.order.id, "orderReference": "shop-1",
                    "trackingCode": event.order.tracking_code, "trackingUrl": "https://track.example/x",
                    "status": "driver_assigned", "codStatus": "pending",
                },
                "data": {"driver": {"name": "Asha"}},
            })
        );
        assert_eq!(made.position, Some(Position { order_id: event.order.id, sequence: 2 }));
        assert_eq!(Some(made.occurred_at), event.recorded_at);
    }

    #[test]
    fn an_event_without_an_order_has_nulls() {
        let data = WalletLowBalance { balance_paise: Paise::new(100), threshold_paise: Paise::new(50_000) };
        let envelope = envelope(EnvelopeBody::WalletLowBalance(data));
        let made = WebhookEvent::of(&envelope).unwrap().unwrap();
        let body: Value = serde_json::from_slice(&made.body).unwrap();
        assert_eq!((&body["order"], &body["sequence"]), (&Value::Null, &Value::Null));
        assert_eq!(body["data"], json!({"balancePaise": 100, "thresholdPaise": 50_000}));
        assert_eq!(made.position, None);
    }

    #[test]
    fn a_test_has_a_synthetic_order() {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(3));
        let made = WebhookEvent::of_test(BusinessId::generate(&clock, &entropy), &clock, &entropy).unwrap();
        let body: Value = serde_json::from_slice(&made.body).unwrap();
        assert_eq!((&body["event"], &body["mode"]), (&json!("webhook.test"), &json!("test")));
        assert!(body["order"]["trackingCode"].as_str().unwrap().starts_with("TEST-"));
        assert_eq!(body["order"]["id"], body["order"]["serviceOrderId"]);
    }
}
