//! What keeps a slot until it is dropped.

use std::sync::atomic::{AtomicBool, Ordering};

use domain::{BusinessId, EndpointId};
use tokio::time::Instant;

use super::Schedule;
use crate::store::{LEASE, Lease};

/// Keeps a delivery in flight until dropped, unless the delivery was claimed again meanwhile.
pub(crate) struct InFlight {
    pub(super) schedule: Schedule,
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
        self.schedule.change(|state| {
            if let Some(endpoint) = state.endpoints.get_mut(&self.endpoint) {
                endpoint.record_result(succeeded, took_ms);
            }
            if succeeded && let Some(held) = state.in_flight.received(self.lease) {
                state.vacate(&held, Instant::now());
            }
        });
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.schedule.change(|state| {
            if *self.has_token.get_mut()
                && let Some(endpoint) = state.endpoints.get_mut(&self.endpoint)
            {
                endpoint.bucket.give_back(1);
            }
            if let Some(held) = state.in_flight.remove(self.lease) {
                state.vacate(&held, Instant::now());
            }
            state.ring_for_slots();
        });
    }
}

/// Keeps a slot for a connection test until dropped.
pub(crate) struct TestSlot {
    pub(super) schedule: Schedule,
    pub(super) business: BusinessId,
}

impl Drop for TestSlot {
    fn drop(&mut self) {
        self.schedule.lock().tests.free(self.business);
    }
}
