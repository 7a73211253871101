//! What keeps a slot until it is dropped.

use std::sync::atomic::{AtomicBool, Ordering};

use domain::{BusinessId, EndpointId};
use tokio::time::Instant;

use super::{Capacity, State};
use crate::store::{LEASE, Lease};

/// Keeps a delivery in flight until dropped, unless the delivery was claimed again meanwhile.
pub(crate) struct InFlight {
    pub(super) capacity: Capacity,
    pub(super) lease: Lease,
    pub(super) endpoint: EndpointId,
    pub(super) since: Instant,
    /// A token of the endpoint's rate, which is given back if the webhook is not sent.
    pub(super) has_token: AtomicBool,
}

impl InFlight {
    pub(crate) fn lease(&self) -> Lease {
        self.lease
    }

    /// Whether the delivery may be sent: the database may have stopped between the lease and its commit for so long that
    /// the lease is about to expire.
    pub(in crate::sender) fn is_recent(&self) -> bool {
        self.since.elapsed() < LEASE / 2
    }

    /// The webhook is sent now.
    pub(in crate::sender) fn spend_token(&self) {
        self.has_token.store(false, Ordering::Relaxed);
    }

    /// Adapts the endpoint's slots to the result of the attempt. After a success the slot is free, and the delivery stays
    /// in flight until its outcome is written. After a failure the slot stays occupied until then: only then do other
    /// processes see the endpoint's changed health.
    pub(in crate::sender) fn attempted(&self, succeeded: bool, took_ms: i64) {
        self.capacity.change(|State { in_flight, loads, wake, .. }| {
            loads.record_result(self.endpoint, succeeded, took_ms);
            wake.claim |= succeeded && in_flight.received(self.lease);
        });
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.capacity.change(|State { in_flight, loads, wake, in_flight_awaited, .. }| {
            if *self.has_token.get_mut() {
                loads.give_back_token(self.endpoint);
            }
            wake.claim |= in_flight.remove(self.lease);
            wake.ended |= in_flight_awaited.take_if(|awaited| in_flight.len() <= *awaited).is_some();
        });
    }
}

/// Keeps a slot for a connection test until dropped.
pub(crate) struct TestSlot {
    pub(super) capacity: Capacity,
    pub(super) business: BusinessId,
}

impl Drop for TestSlot {
    fn drop(&mut self) {
        self.capacity.change(|state| state.tests.free(self.business));
    }
}
