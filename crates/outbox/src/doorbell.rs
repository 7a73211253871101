//! Waking the relay without a wait for its next look.

use std::sync::Arc;

use tokio::sync::Notify;

/// Rung after a commit that enqueued something. A ring that is missed costs a quarter of a second, nothing else.
#[derive(Clone, Debug, Default)]
pub struct Doorbell(Arc<Notify>);

impl Doorbell {
    /// Wakes the relay, now or as soon as it is done with what it has.
    pub fn ring(&self) {
        self.0.notify_one();
    }

    pub(crate) async fn rung(&self) {
        self.0.notified().await;
    }
}
