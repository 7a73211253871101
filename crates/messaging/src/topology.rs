//! Which events reach a shared queue, so that a publisher can recognise an event that the broker would drop.

use std::sync::LazyLock;

use events::queues;

use crate::Queue;

/// The bindings of all shared queues.
static PATTERNS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let patterns =
        |queue: &Queue| queue.bindings.iter().cloned().chain(queue.renewal_key()).collect::<Vec<_>>();
    queues::ALL.map(Queue::shared).iter().flat_map(patterns).collect()
});

/// Whether a shared queue is bound to this routing key. Events for queues per instance may reach no queue.
pub(crate) fn is_taken(routing_key: &str) -> bool {
    PATTERNS.iter().any(|pattern| matches(pattern, routing_key))
}

/// Compares like a topic exchange: `*` is one word; `#`, which only occurs at the end of our patterns, is any number.
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
    use events::binding;

    use super::*;

    #[test]
    fn only_events_of_shared_queues_are_taken() {
        for key in [
            "live.order.created",
            "test.cod.settled",
            "live.cod.collected",
            binding::FIRST_TEST_ORDER,
            binding::WALLET_FUNDED,
            binding::WALLET_LOW_BALANCE,
            binding::CASH_REMITTED,
            binding::ATTEMPT_BEGUN,
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
