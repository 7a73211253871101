//! The shared queues of the system, known to every publisher: each declares them all before it first publishes, so
//! that no event is routed to nowhere because its consumer has not started yet.

use events::binding;

use crate::Queue;

/// What becomes webhooks; consumed by webhook-dispatcher.
pub fn webhook_events() -> Queue {
    let bindings = &[binding::LIVE_ORDERS, binding::TEST_ORDERS, binding::WALLET_LOW_BALANCE];
    Queue::shared("webhook-dispatcher.events", bindings)
}

/// What may give a delivery fee back; consumed by wallet.
pub fn refunds() -> Queue {
    Queue::shared("wallet.refunds", &[binding::LIVE_ORDER_CANCELLED, binding::LIVE_ORDER_FAILED])
}

/// What became of the cash of deliveries; consumed by wallet.
pub fn cash() -> Queue {
    Queue::shared("wallet.cash", &[binding::LIVE_ORDER_DELIVERED, binding::LIVE_CASH])
}

/// The go-live facts that others see happen; consumed by portal-api.
pub fn facts() -> Queue {
    Queue::shared("portal-api.facts", &[binding::FIRST_TEST_ORDER, binding::WALLET_FUNDED])
}

/// What a business is mailed about; consumed by portal-api.
pub fn warnings() -> Queue {
    let bindings = &[binding::WALLET_LOW_BALANCE, binding::ENDPOINT_FAILING, binding::ENDPOINT_DISABLED];
    Queue::shared("portal-api.warnings", bindings)
}

/// Orders whose personal data is to be erased from what was told of them; consumed by webhook-dispatcher. A queue of its
/// own, so that an instance from before it leaves these to a newer one.
pub fn erasures() -> Queue {
    Queue::shared("webhook-dispatcher.erasures", &[binding::PERSONAL_DATA_ERASED])
}

/// All of them.
pub fn shared() -> [Queue; 6] {
    [webhook_events(), refunds(), cash(), facts(), warnings(), erasures()]
}
