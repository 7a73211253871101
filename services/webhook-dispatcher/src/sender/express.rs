//! New deliveries that are sent as soon as they are committed, without a claim. The statement that stores such a delivery
//! also leases it to this process. Deliveries go this way only while slots are free, so they do not delay waiting ones. If
//! the process dies, they become due when their leases expire.

use std::sync::Arc;

use domain::{BusinessId, Mode, WebhookDeliveryId};

use super::Sender;
use super::schedule::{InFlight, Origin};
use crate::store::{ClaimedDelivery, Lease, Subscriber};

/// A leased delivery, counted as in flight.
pub(crate) type ReadyToSend = (ClaimedDelivery, InFlight);

/// A slot and a lease for a delivery that is about to be stored. Dropping it frees the slot.
pub(crate) struct Reservation {
    pub guard: InFlight,
    pub token: i64,
}

impl Sender {
    /// None if the delivery has to wait for a claim.
    pub(crate) fn reserve(
        &self,
        delivery: WebhookDeliveryId,
        key: (BusinessId, Mode),
        to: &Subscriber,
    ) -> Option<Reservation> {
        self.reserve_slot(delivery, key, to, Origin::Express)
    }

    fn reserve_slot(
        &self,
        delivery: WebhookDeliveryId,
        (business, mode): (BusinessId, Mode),
        to: &Subscriber,
        origin: Origin,
    ) -> Option<Reservation> {
        // Endpoints with a rate limit of their own always use claims, which enforce it.
        if let Some(limit) = to.max_per_second {
            self.schedule.limit_is((to.endpoint, business), limit);
            return None;
        }
        if !to.open || self.tasks.is_closed() {
            return None;
        }
        let token = i64::from_le_bytes(self.unit.entropy.bytes());
        let guard = self.schedule.reserve(Lease { delivery, business, token }, to.endpoint, mode, origin)?;
        Some(Reservation { guard, token })
    }

    /// The same for a delivery that is sent before it is stored: only to endpoints that respond quickly, because the
    /// event's message waits for the response.
    pub(crate) fn reserve_eagerly(
        &self,
        delivery: WebhookDeliveryId,
        key: (BusinessId, Mode),
        to: &Subscriber,
    ) -> Option<Reservation> {
        if !self.schedule.is_quick(to.endpoint) {
            return None;
        }
        self.reserve_slot(delivery, key, to, Origin::Eager)
    }

    /// Sends deliveries whose leases are committed. If the service stops, or the commit took too long, it releases the
    /// leases instead.
    pub(crate) async fn send_now(self: &Arc<Self>, ready: Vec<ReadyToSend>) {
        let send = |ready: ReadyToSend| if ready.1.is_recent() { self.start(ready) } else { Some(ready) };
        let unsent: Vec<_> = ready.into_iter().filter_map(send).collect();
        if !unsent.is_empty() {
            let leases = Vec::from_iter(unsent.iter().map(|(_, guard)| guard.lease()));
            drop(unsent);
            self.release(&leases).await;
            self.wake();
        }
    }
}
