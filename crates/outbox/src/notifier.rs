//! Wakes the relay as soon as a transaction has committed events.

use std::sync::Arc;

use tokio::sync::Notify;

/// Notified after a commit that enqueued events. A lost notification costs one poll interval of the relay, nothing else.
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
