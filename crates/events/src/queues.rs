//! The durable queues that several services know. Each publisher declares all of them before it first publishes, so
//! that no event is lost when its consumer has not started yet.

use crate::binding;

/// A queue that the instances of one service share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedQueue {
    pub name: &'static str,
    /// Patterns of routing keys.
    pub bindings: &'static [&'static str],
}

/// Events that become webhooks, except those of test orders; consumed by webhook-dispatcher.
pub const WEBHOOK_EVENTS: SharedQueue = SharedQueue {
    name: "webhook-dispatcher.events",
    bindings: &[binding::LIVE_ORDERS, binding::WALLET_LOW_BALANCE],
};

/// Those of test orders: live ones do not wait behind them.
pub const WEBHOOK_TEST_EVENTS: SharedQueue =
    SharedQueue { name: "webhook-dispatcher.test-events", bindings: &[binding::TEST_ORDERS] };

/// Events that may refund a delivery fee; consumed by wallet.
pub const REFUNDS: SharedQueue = SharedQueue {
    name: "wallet.refunds",
    bindings: &[binding::LIVE_ORDER_CANCELLED, binding::LIVE_ORDER_FAILED],
};

/// Cash collected and settled by the fleet; consumed by wallet.
pub const CASH: SharedQueue =
    SharedQueue { name: "wallet.cash", bindings: &[binding::LIVE_ORDER_DELIVERED, binding::LIVE_CASH] };

/// Attempts whose fee is due; consumed by wallet. An instance of release 1.0.0 leaves them to a newer one.
pub const ATTEMPT_FEES: SharedQueue =
    SharedQueue { name: "wallet.attempt-fees", bindings: &[binding::ATTEMPT_BEGUN] };

/// Orders whose cash a remittance paid out; consumed by order-api.
pub const REMITTANCES: SharedQueue =
    SharedQueue { name: "order-api.remittances", bindings: &[binding::CASH_REMITTED] };

/// Go-live facts; consumed by portal-api.
pub const FACTS: SharedQueue =
    SharedQueue { name: "portal-api.facts", bindings: &[binding::FIRST_TEST_ORDER, binding::WALLET_FUNDED] };

/// Warnings that are mailed to a business; consumed by portal-api.
pub const WARNINGS: SharedQueue = SharedQueue {
    name: "portal-api.warnings",
    bindings: &[
        binding::WALLET_LOW_BALANCE,
        binding::WALLET_MONEY_TAKEN_BACK,
        binding::ENDPOINT_FAILING,
        binding::ENDPOINT_DISABLED,
    ],
};

/// Orders whose personal data must be erased from stored webhooks; consumed by webhook-dispatcher. It is separate from
/// [`WEBHOOK_EVENTS`] so that an instance of an older release leaves these events to a newer one.
pub const ERASURES: SharedQueue =
    SharedQueue { name: "webhook-dispatcher.erasures", bindings: &[binding::PERSONAL_DATA_ERASED] };

/// All shared queues.
pub const ALL: [SharedQueue; 9] = [
    WEBHOOK_EVENTS,
    WEBHOOK_TEST_EVENTS,
    REFUNDS,
    CASH,
    ATTEMPT_FEES,
    REMITTANCES,
    FACTS,
    WARNINGS,
    ERASURES,
];
