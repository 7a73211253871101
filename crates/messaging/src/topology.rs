//! The shared queues of the system, known to every publisher: each declares them all before it first publishes, so
//! that no event is routed to nowhere because its consumer has not started yet.

use std::sync::LazyLock;

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

/// What the shared queues are bound to.
static PATTERNS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let patterns =
        |queue: &Queue| queue.bindings.iter().cloned().chain(queue.renewal_key()).collect::<Vec<_>>();
    shared().iter().flat_map(patterns).collect()
});

/// Whether a shared queue takes what is published under this key. What only instances hear for themselves may reach nobody.
pub(crate) fn is_taken(routing_key: &str) -> bool {
    PATTERNS.iter().any(|pattern| matches(pattern, routing_key))
}

/// As a topic exchange compares: `*` is one word; `#`, which ends our patterns, is any number of them.
fn matches(pattern: &str, routing_key: &str) -> bool {
    let (mut pattern, mut words) = (pattern.split('.'), routing_key.split('.'));
    loop {
        match (pattern.next(), words.next()) {
            (Some("#"), _) | (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(wanted), Some(word)) if wanted == word => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shared_queue_takes_is_told_from_what_instances_hear() {
        for key in [
            "live.order.created",
            "test.cod.settled",
            "live.cod.collected",
            binding::FIRST_TEST_ORDER,
            binding::WALLET_FUNDED,
            binding::WALLET_LOW_BALANCE,
            binding::ENDPOINT_FAILING,
            binding::ENDPOINT_DISABLED,
            binding::PERSONAL_DATA_ERASED,
            "renewed.wallet.cash",
        ] {
            assert!(is_taken(key), "{key}");
        }
        for key in [binding::API_KEY_REVOKED, binding::BUSINESS_CHANGED, binding::PORTAL_CHANGED, "order", ""]
        {
            assert!(!is_taken(key), "{key}");
        }
    }

    #[test]
    fn patterns_compare_word_by_word() {
        assert!(matches("live.cod.*", "live.cod.collected") && matches("live.#", "live"));
        assert!(!matches("live.cod.*", "live.cod") && !matches("live.cod.*", "live.cod.a.b"));
        assert!(!matches("live.order", "live.order.created") && !matches("live.#", "lively.order"));
    }
}
