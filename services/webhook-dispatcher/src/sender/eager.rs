//! Eager webhooks are sent before they are stored, while their event's message stays unacknowledged: if this process
//! dies, the broker delivers the message again.

use std::sync::Arc;

use tracing::Instrument;

use super::Sender;
use super::deliver::span_of;
use super::eager_send::EagerSend;
use super::express::ReadyToSend;

impl Sender {
    /// Starts to send a delivery that is not stored yet.
    pub(crate) fn send_eagerly(self: &Arc<Self>, (claimed, guard): ReadyToSend) -> EagerSend {
        let ids = (claimed.id, claimed.endpoint_id, claimed.token);
        let (sender, span, began_at) = (self.clone(), span_of(&claimed), self.unit.clock.now());
        let sending = async move {
            let outcome = sender.send(claimed, &guard).await;
            (outcome, guard)
        };
        EagerSend::new(ids, began_at, tokio::spawn(sending.instrument(span)))
    }

    /// Records the outcome of a delivery that was stored before it was known. The dispatch loop waits for it.
    pub(crate) async fn record_later(&self, send: EagerSend) {
        if let Some(send) = self.express.finish(send) {
            self.record_eager(send).await;
        }
    }

    pub(super) async fn record_eager(&self, send: EagerSend) {
        if let Some((outcome, _guard)) = send.into_outcome().await {
            self.recorder.record(outcome).await;
        }
    }
}
