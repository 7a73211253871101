//! Eager webhooks are sent before they are stored, while their event's message stays unacknowledged: if this process
//! dies, the broker delivers the message again.

use std::sync::Arc;

use tracing::Instrument;

use super::Sender;
use super::deliver::span_of;
use super::eager_send::EagerSend;
use super::express::ReadyToSend;
use crate::store::Lease;

impl Sender {
    /// Starts to send a delivery that is not stored yet.
    pub(crate) fn send_eagerly(self: &Arc<Self>, (claimed, guard): ReadyToSend) -> EagerSend {
        let ids = (guard.lease(), claimed.endpoint_id);
        let (sender, span, began_at) = (self.clone(), span_of(&claimed), self.unit.clock.now());
        let sending = async move {
            let outcome = sender.send(claimed, &guard).await;
            (outcome, guard)
        };
        EagerSend::new(ids, began_at, tokio::spawn(sending.instrument(span)))
    }

    /// Records the outcome of a delivery that was stored before it was known, in a task of its own.
    pub(crate) async fn record_later(self: &Arc<Self>, send: EagerSend) {
        self.schedule.stored(send.lease.delivery, send.lease.token);
        let sender = self.clone();
        let unstarted = self.tasks.start(send, |send| async move { sender.record_eager(send).await });
        if let Some(send) = unstarted
            && let Some(lease) = self.record_eager(send).await
        {
            self.release(&[lease]).await;
        }
    }

    /// Returns the lease if the service stops before the attempt has ended.
    async fn record_eager(&self, send: EagerSend) -> Option<Lease> {
        let lease = send.lease;
        let ended = self.give_up.run_until_cancelled(send.into_outcome()).await;
        let Some(ended) = ended else { return Some(lease) };
        if let Some((outcome, _guard)) = ended {
            self.recorder.record(outcome).await;
        }
        None
    }
}
