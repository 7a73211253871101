//! The kinds of events that a business can subscribe to (SPECIFICATION §6, and the opt-in kinds).

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// The kind of an event, under the name that webhooks and fleet reports use.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
pub enum EventKind {
    #[serde(rename = "order.created")]
    #[strum(serialize = "order.created")]
    OrderCreated,
    #[serde(rename = "driver.assigned")]
    #[strum(serialize = "driver.assigned")]
    DriverAssigned,
    #[serde(rename = "driver.unassigned")]
    #[strum(serialize = "driver.unassigned")]
    DriverUnassigned,
    #[serde(rename = "order.picked_up")]
    #[strum(serialize = "order.picked_up")]
    OrderPickedUp,
    #[serde(rename = "order.out_for_delivery")]
    #[strum(serialize = "order.out_for_delivery")]
    OrderOutForDelivery,
    #[serde(rename = "order.delivered")]
    #[strum(serialize = "order.delivered")]
    OrderDelivered,
    #[serde(rename = "order.failed")]
    #[strum(serialize = "order.failed")]
    OrderFailed,
    #[serde(rename = "order.cancelled")]
    #[strum(serialize = "order.cancelled")]
    OrderCancelled,
    #[serde(rename = "order.returned")]
    #[strum(serialize = "order.returned")]
    OrderReturned,
    /// The business asked for another attempt.
    #[serde(rename = "order.reattempt_scheduled")]
    #[strum(serialize = "order.reattempt_scheduled")]
    OrderReattemptScheduled,
    /// The business asked for the parcel.
    #[serde(rename = "order.returning")]
    #[strum(serialize = "order.returning")]
    OrderReturning,
    #[serde(rename = "cod.collected")]
    #[strum(serialize = "cod.collected")]
    CodCollected,
    #[serde(rename = "cod.handed_over")]
    #[strum(serialize = "cod.handed_over")]
    CodHandedOver,
    #[serde(rename = "cod.settled")]
    #[strum(serialize = "cod.settled")]
    CodSettled,
    #[serde(rename = "wallet.low_balance")]
    #[strum(serialize = "wallet.low_balance")]
    WalletLowBalance,
    /// The test of an endpoint: sent on request, never subscribed to.
    #[serde(rename = "webhook.test")]
    #[strum(serialize = "webhook.test")]
    WebhookTest,
}

/// The subscription of an endpoint that names no events: the nine kinds of SPECIFICATION §6, and `order.created`.
pub const DEFAULT_SUBSCRIPTION: [EventKind; 10] = [
    EventKind::OrderCreated,
    EventKind::DriverAssigned,
    EventKind::OrderPickedUp,
    EventKind::OrderOutForDelivery,
    EventKind::OrderDelivered,
    EventKind::OrderFailed,
    EventKind::OrderCancelled,
    EventKind::CodCollected,
    EventKind::CodHandedOver,
    EventKind::CodSettled,
];

impl EventKind {
    /// The name used in JSON, SQL and routing keys.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether an endpoint may name this kind in its `events`.
    pub fn can_be_subscribed(self) -> bool {
        self != Self::WebhookTest
    }

    /// Whether a fleet may report this kind: it moves the delivery or its cash.
    pub fn is_progress(self) -> bool {
        !matches!(self, Self::OrderCreated | Self::WalletLowBalance | Self::WebhookTest) && !self.is_request()
    }

    /// Whether a business asked for it after a failed delivery. It moves nothing, and exists only where the operator
    /// switched it on.
    pub fn is_request(self) -> bool {
        matches!(self, Self::OrderReattemptScheduled | Self::OrderReturning)
    }

    /// Whether it moves the cash of an order, and names an amount.
    pub fn is_cash(self) -> bool {
        matches!(self, Self::CodCollected | Self::CodHandedOver | Self::CodSettled)
    }

    /// The kinds that fleets report.
    pub fn of_progress() -> impl Iterator<Item = Self> {
        Self::VARIANTS.iter().copied().filter(|kind| kind.is_progress())
    }

    /// The kinds that orders have.
    pub fn of_orders() -> impl Iterator<Item = Self> {
        let requests = [Self::OrderReattemptScheduled, Self::OrderReturning];
        std::iter::once(Self::OrderCreated).chain(Self::of_progress()).chain(requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_the_same_name_in_json_and_text() {
        for kind in EventKind::VARIANTS {
            assert_eq!(serde_json::to_string(kind).unwrap(), format!("\"{}\"", kind.as_str()));
            assert_eq!(kind.as_str().parse(), Ok(*kind));
        }
    }

    #[test]
    fn fleets_report_progress_and_the_test_kind_has_no_subscription() {
        use EventKind::{
            OrderCreated, OrderReattemptScheduled, OrderReturning, WalletLowBalance, WebhookTest,
        };
        let requests = [OrderReattemptScheduled, OrderReturning];
        for kind in EventKind::VARIANTS {
            let others = [OrderCreated, WalletLowBalance, WebhookTest];
            assert_eq!(kind.is_request(), requests.contains(kind));
            assert_eq!(kind.is_progress(), !others.contains(kind) && !kind.is_request());
            assert_eq!(kind.can_be_subscribed(), *kind != WebhookTest);
            assert!(!(kind.is_request() && DEFAULT_SUBSCRIPTION.contains(kind)), "{kind} is opt-in");
        }
        let of_orders: Vec<_> = EventKind::of_orders().collect();
        assert_eq!(of_orders.len(), EventKind::VARIANTS.len() - 2);
        assert!(requests.iter().all(|kind| of_orders.contains(kind)));
    }

    #[test]
    fn the_default_subscription_is_the_nine_specified_kinds_and_order_created() {
        let names: Vec<_> = DEFAULT_SUBSCRIPTION.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(
            names,
            [
                "order.created",
                "driver.assigned",
                "order.picked_up",
                "order.out_for_delivery",
                "order.delivered",
                "order.failed",
                "order.cancelled",
                "cod.collected",
                "cod.handed_over",
                "cod.settled"
            ]
        );
    }
}
