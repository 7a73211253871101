//! What this process is sending at this moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::{EndpointId, WebhookDeliveryId};

/// How long a lease runs unless it is renewed. Renewed every quarter of it while the attempt lasts, so that a process that
/// dies is succeeded within seconds, and a slow endpoint is not called twice.
pub(crate) const LEASE: Duration = Duration::from_secs(4);

/// The deliveries under way, with their leases. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct InHand(Arc<Mutex<All>>);

#[derive(Default)]
struct All {
    held: HashMap<WebhookDeliveryId, Held>,
    by_endpoint: HashMap<EndpointId, i64>,
    /// When the leases of all that was in hand were last extended.
    renewed_at: Option<Instant>,
}

#[derive(Clone, Copy)]
struct Held {
    endpoint: EndpointId,
    token: i64,
}

/// Keeps a delivery in hand until it is dropped.
pub(crate) struct Hold {
    all: InHand,
    delivery: WebhookDeliveryId,
}

impl InHand {
    pub(crate) fn take(&self, delivery: WebhookDeliveryId, endpoint: EndpointId, token: i64) -> Hold {
        self.lock().insert(delivery, Held { endpoint, token });
        Hold { all: self.clone(), delivery }
    }

    /// The same, unless so many are in hand already, of this endpoint or in all.
    pub(crate) fn take_within(
        &self,
        (of_endpoint, in_all): (i64, usize),
        (delivery, endpoint, token): (WebhookDeliveryId, EndpointId, i64),
    ) -> Option<Hold> {
        let mut all = self.lock();
        let busy = all.by_endpoint.get(&endpoint).copied().unwrap_or_default();
        if busy >= of_endpoint || all.held.len() >= in_all {
            return None;
        }
        all.insert(delivery, Held { endpoint, token });
        Some(Hold { all: self.clone(), delivery })
    }

    /// Each delivery with the token of its lease.
    pub(crate) fn leases(&self) -> Vec<(WebhookDeliveryId, i64)> {
        self.lock().held.iter().map(|(delivery, held)| (*delivery, held.token)).collect()
    }

    /// To be called when all leases that were held at that moment have been extended.
    pub(crate) fn renewed(&self, at: Instant) {
        self.lock().renewed_at = Some(at);
    }

    /// What is in hand while its lease may have run out: the database was away for longer than a lease. Otherwise the
    /// leases themselves keep others, and us, from taking it again.
    pub(crate) fn lapsed(&self) -> Vec<WebhookDeliveryId> {
        let all = self.lock();
        let extended = all.renewed_at.is_some_and(|at| at.elapsed() < LEASE);
        if extended { Vec::new() } else { all.held.keys().copied().collect() }
    }

    /// How many are under way to each endpoint.
    pub(crate) fn by_endpoint(&self) -> Vec<(EndpointId, i64)> {
        self.lock().by_endpoint.iter().map(|(endpoint, count)| (*endpoint, *count)).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().held.len()
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn insert(&mut self, delivery: WebhookDeliveryId, held: Held) {
        // Taken anew with another token while it is in hand: it counts once.
        self.remove(delivery);
        self.held.insert(delivery, held);
        *self.by_endpoint.entry(held.endpoint).or_default() += 1;
    }

    fn remove(&mut self, delivery: WebhookDeliveryId) {
        let Some(held) = self.held.remove(&delivery) else { return };
        if let Some(count) = self.by_endpoint.get_mut(&held.endpoint) {
            *count -= 1;
            if *count == 0 {
                self.by_endpoint.remove(&held.endpoint);
            }
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.all.lock().remove(self.delivery);
    }
}
