//! Routing keys. Order events use `<mode>.<kind>` (`live.order.created`), so that a queue can bind to live events
//! alone. Other events use their own name.

use domain::{EventKind, Mode};

/// The topic exchange of all events.
pub const EXCHANGE: &str = "waybill.events";

/// A well-formed routing key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingKey(String);

impl RoutingKey {
    pub(crate) fn order(mode: Mode, event: EventKind) -> Self {
        Self(format!("{mode}.{event}"))
    }

    pub(crate) fn plain(name: &str) -> Self {
        Self(name.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The binding patterns of queues.
pub mod binding {
    pub const LIVE_ORDERS: &str = "live.#";
    pub const TEST_ORDERS: &str = "test.#";
    pub const LIVE_ORDER_CANCELLED: &str = "live.order.cancelled";
    pub const LIVE_ORDER_FAILED: &str = "live.order.failed";
    pub const FIRST_TEST_ORDER: &str = "test_order.first";
    pub const LIVE_ORDER_DELIVERED: &str = "live.order.delivered";
    pub const LIVE_CASH: &str = "live.cod.*";
    pub const API_KEY_REVOKED: &str = "api_key.revoked";
    pub const BUSINESS_CHANGED: &str = "business.changed";
    pub const PORTAL_CHANGED: &str = "portal.changed";
    pub const WALLET_FUNDED: &str = "wallet.funded";
    pub const WALLET_LOW_BALANCE: &str = "wallet.low_balance";
    pub const WALLET_MONEY_TAKEN_BACK: &str = "wallet.money_taken_back";
    pub const CASH_REMITTED: &str = "wallet.cash_remitted";
    pub const ATTEMPT_BEGUN: &str = "order.attempt_begun";
    pub const ENDPOINT_FAILING: &str = "webhook_endpoint.failing";
    pub const ENDPOINT_DISABLED: &str = "webhook_endpoint.disabled";
    pub const PERSONAL_DATA_ERASED: &str = "order.personal_data_erased";
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};
    use domain::{
        BusinessId, Clock, CodStatus, DeliveryStatus, Entropy, EventId, OrderId, Paise, TrackingCode,
    };
    use serde_json::json;

    use super::*;
    use crate::{Body, Envelope, OrderEvent, OrderSnapshot, ProgressData};

    fn envelope() -> Envelope {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(1));
        Envelope {
            id: EventId::generate(&clock, &entropy),
            business_id: BusinessId::generate(&clock, &entropy),
            occurred_at: clock.now(),
            body: Body::Order(Box::new(OrderEvent {
                event: EventKind::OrderCancelled,
                sequence: 2,
                mode: Mode::Live,
                order: OrderSnapshot {
                    id: OrderId::generate(&clock, &entropy),
                    order_reference: "shop-1".into(),
                    tracking_code: TrackingCode::generate(Mode::Live, &entropy),
                    tracking_url: "https://track.example/x".into(),
                    status: DeliveryStatus::Cancelled,
                    cod_status: CodStatus::NotApplicable,
                },
                data: ProgressData {
                    reason: Some("asked by the customer".into()),
                    ..ProgressData::default()
                },
                delivery_fee_paise: Paise::new(4_900),
                refund_due: true,
                cod_expected_paise: None,
                recorded_at: None,
            })),
        }
    }

    #[test]
    fn recorded_at_falls_back_to_occurred_at() {
        let mut envelope = envelope();
        assert_eq!(envelope.recorded_at(), envelope.occurred_at, "from a release that did not send the time");
        let recorded_at = envelope.occurred_at + TimeDelta::days(300);
        if let Body::Order(event) = &mut envelope.body {
            event.recorded_at = Some(recorded_at);
        }
        assert_eq!(envelope.recorded_at(), recorded_at);
        envelope.body = Body::WalletFunded {};
        assert_eq!(envelope.recorded_at(), envelope.occurred_at);
    }

    #[test]
    fn an_envelope_round_trips_and_routes_by_mode_and_kind() {
        let written = serde_json::to_string(&envelope()).unwrap();
        assert_eq!(serde_json::from_str::<Envelope>(&written).unwrap(), envelope());
        assert_eq!(envelope().routing_key().as_str(), binding::LIVE_ORDER_CANCELLED);
    }

    #[test]
    fn a_field_of_a_later_version_is_ignored() {
        let mut written = serde_json::to_value(envelope()).unwrap();
        written["later"] = json!(1);
        written["payload"]["later"] = json!({"x": 1});
        written["payload"]["order"]["later"] = json!([1]);
        assert_eq!(serde_json::from_value::<Envelope>(written).unwrap(), envelope());
    }

    #[test]
    fn events_without_content_round_trip() {
        let written = serde_json::to_value(Envelope { body: Body::WalletFunded {}, ..envelope() }).unwrap();
        assert_eq!(written["type"], "wallet.funded");
        assert_eq!(serde_json::from_value::<Envelope>(written).unwrap().body, Body::WalletFunded {});
    }
}
