//! What this process is sending at this moment.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::{EndpointId, WebhookDeliveryId};

/// How long a lease runs unless it is renewed. Renewed every quarter of it while the attempt lasts, so that a process that
/// dies is succeeded within seconds, and a slow endpoint is not called twice.
pub(crate) const LEASE: Duration = Duration::from_secs(6);

/// The deliveries under way, with their leases. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct InHand(Arc<Mutex<HashMap<WebhookDeliveryId, Held>>>);

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

    /// Each delivery with the token of its lease.
    pub(crate) fn leases(&self) -> Vec<(WebhookDeliveryId, i64)> {
        self.lock().iter().map(|(delivery, held)| (*delivery, held.token)).collect()
    }

    /// How many are under way to each endpoint.
    pub(crate) fn by_endpoint(&self) -> Vec<(EndpointId, i64)> {
        let mut counts: BTreeMap<EndpointId, i64> = BTreeMap::new();
        for held in self.lock().values() {
            *counts.entry(held.endpoint).or_default() += 1;
        }
        counts.into_iter().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WebhookDeliveryId, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.all.lock().remove(&self.delivery);
    }
}
