//! Wakes the relay as soon as a transaction has committed events.

use std::sync::Arc;

use tokio::sync::Notify;

/// Notified after each commit that enqueued events. A lost notification delays the events by one poll interval of the
/// relay.
#[derive(Clone, Debug, Default)]
pub struct OutboxNotifier(Arc<Notify>);

impl OutboxNotifier {
    /// Wakes the relay, now or as soon as it finishes its current round.
    pub fn notify(&self) {
        self.0.notify_one();
    }

    pub(crate) async fn notified(&self) {
        self.0.notified().await;
    }
}
