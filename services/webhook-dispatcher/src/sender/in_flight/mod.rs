//! The deliveries that this process is sending.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{BusinessId, EndpointId, Mode, WebhookDeliveryId};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::domain::{Kind, Shares, Slots, Speed};
use crate::store::{LEASE, Lease};

/// Deliveries that were received but whose outcome is not written yet: they are repeated if the process dies.
const UNWRITTEN_MAX: usize = 64;
/// Businesses at their limit are considered again when one sixteenth of all slots has been freed.
const FREED_PART: i64 = 16;

const KINDS: [Kind; 4] = [
    (Mode::Live, Speed::Prompt),
    (Mode::Live, Speed::Uncertain),
    (Mode::Test, Speed::Prompt),
    (Mode::Test, Speed::Uncertain),
];

/// All deliveries in flight, with their leases. Clones share the set.
#[derive(Clone)]
pub(crate) struct InFlightSet {
    all: Arc<Mutex<All>>,
    /// Notified when an endpoint, a business, or test mode that had no free slot has one.
    wake: Arc<Notify>,
}

#[derive(Default)]
struct All {
    held: HashMap<WebhookDeliveryId, Held>,
    by_endpoint: HashMap<EndpointId, i64>,
    shares: Shares,
    /// Those that were received and are not written yet.
    unwritten: usize,
    /// Without a free slot at the latest claim.
    full: HashSet<EndpointId>,
    full_businesses: HashMap<BusinessId, Vec<Kind>>,
    test_is_full: bool,
    uncertain_is_full: bool,
    /// How many more slots must be freed, by any business, before the loop is woken to consider businesses at their limit
    /// again. None if no business is at its limit, or the loop was woken.
    frees_awaited: Option<i64>,
    /// When all leases were last renewed.
    renewed_at: Option<Instant>,
    /// How often a new delivery has taken a slot.
    new_deliveries: u64,
    /// When one was last sent to each endpoint, since the loop last asked.
    new_at: HashMap<EndpointId, Instant>,
}

#[derive(Clone, Copy)]
struct Held {
    endpoint: EndpointId,
    kind: Kind,
    lease: Lease,
    /// It still counts against the limits of its endpoint and its business.
    occupies_slot: bool,
}

/// Keeps a delivery in the set until dropped, unless the delivery was claimed again meanwhile.
pub(crate) struct InFlight {
    in_flight: InFlightSet,
    lease: Lease,
    since: Instant,
}

impl InFlight {
    pub(crate) fn lease(&self) -> Lease {
        self.lease
    }

    /// Whether the delivery may be sent: the database may have stopped between the lease and its commit for so long that
    /// the lease is about to expire.
    pub(crate) fn is_recent(&self) -> bool {
        self.since.elapsed() < LEASE / 2
    }

    #[cfg(test)]
    pub(crate) fn age(&mut self, by: std::time::Duration) {
        self.since -= by;
    }
}

impl InFlightSet {
    pub(crate) fn new(wake: Arc<Notify>) -> Self {
        Self { all: Arc::default(), wake }
    }

    pub(crate) fn insert(&self, lease: Lease, endpoint: EndpointId, kind: Kind) -> InFlight {
        self.lock().insert(lease, endpoint, kind);
        InFlight { in_flight: self.clone(), lease, since: Instant::now() }
    }

    /// As [`Self::insert`], for a new delivery. None if the endpoint has no slot left, or its business has used its
    /// share.
    pub(crate) fn try_insert(
        &self,
        (of_endpoint, slots): (i64, Slots),
        lease: Lease,
        endpoint: EndpointId,
        kind: Kind,
    ) -> Option<InFlight> {
        let mut all = self.lock();
        let busy = all.by_endpoint.get(&endpoint).copied().unwrap_or_default();
        let in_flight = all.held.len();
        if busy >= of_endpoint || !all.shares.may_take_new(lease.business, kind, (slots, in_flight)) {
            return None;
        }
        all.insert(lease, endpoint, kind);
        all.new_deliveries += 1;
        all.new_at.insert(endpoint, Instant::now());
        Some(InFlight { in_flight: self.clone(), lease, since: Instant::now() })
    }

    /// As [`Self::insert`], for claimed deliveries. If new deliveries took slots since [`Self::count_and_watch`] returned
    /// `seen`, a claimed one gets a slot only if its business still may take one: together, both could use up the last
    /// slots of test mode.
    pub(crate) fn insert_claimed(
        &self,
        claimed: impl Iterator<Item = (Lease, EndpointId, Mode)>,
        speed: Speed,
        (slots, seen): (Slots, u64),
    ) -> Vec<Option<InFlight>> {
        let mut all = self.lock();
        let is_current = all.new_deliveries == seen;
        let mut insert = |(lease, endpoint, mode): (Lease, EndpointId, Mode)| {
            let free = all.shares.free(speed, slots, all.held.len());
            let is_admitted = is_current || all.shares.may_take(lease.business, mode, free);
            is_admitted.then(|| {
                all.insert(lease, endpoint, (mode, speed));
                InFlight { in_flight: self.clone(), lease, since: Instant::now() }
            })
        };
        claimed.map(&mut insert).collect()
    }

    /// The endpoints that new deliveries were sent to since the last call, and when.
    pub(crate) fn take_new(&self) -> HashMap<EndpointId, Instant> {
        std::mem::take(&mut self.lock().new_at)
    }

    pub(crate) fn leases(&self) -> Vec<Lease> {
        self.lock().held.values().map(|held| held.lease).collect()
    }

    /// All leases held at that time have been renewed.
    pub(crate) fn mark_renewed(&self, at: Instant) {
        self.lock().renewed_at = Some(at);
    }

    /// What this process must not claim, because it is still sending it: all deliveries in flight if their leases may have
    /// expired because the database was unreachable. Otherwise none: valid leases keep every process from claiming them.
    pub(crate) fn excluded_from_claims(&self) -> Vec<WebhookDeliveryId> {
        let all = self.lock();
        let is_renewed = all.renewed_at.is_some_and(|at| at.elapsed() < LEASE);
        if is_renewed { Vec::new() } else { all.held.keys().copied().collect() }
    }

    /// The attempts in flight per endpoint.
    pub(crate) fn by_endpoint(&self) -> Vec<(EndpointId, i64)> {
        self.lock().by_endpoint.iter().map(|(endpoint, count)| (*endpoint, *count)).collect()
    }

    /// Wakes the loop as soon as one of these endpoints has fewer attempts in flight than the given number.
    pub(crate) fn wake_when_free(&self, full: impl Iterator<Item = (EndpointId, i64)>) {
        let mut all = self.lock();
        all.full.clear();
        for (endpoint, in_flight) in full {
            if all.by_endpoint.get(&endpoint).copied().unwrap_or_default() < in_flight {
                self.wake.notify_one();
            } else {
                all.full.insert(endpoint);
            }
        }
    }

    /// The slots that each business holds, those that are free for endpoints of this speed, and how often a new delivery
    /// has taken one. From this call on, the loop is woken when a business at its limit frees a slot, and once when other
    /// businesses have freed enough.
    pub(crate) fn count_and_watch(
        &self,
        speed: Speed,
        slots: Slots,
    ) -> (Vec<(BusinessId, Slots)>, Slots, u64) {
        let mut all = self.lock();
        let [prompt, uncertain] =
            [Speed::Prompt, Speed::Uncertain].map(|speed| all.shares.free(speed, slots, all.held.len()));
        let free = |speed| if speed == Speed::Prompt { prompt } else { uncertain };
        let held: Vec<_> = all.shares.held().collect();
        let full_of = |(business, _): &(BusinessId, Slots)| {
            let is_full = |(mode, speed): &Kind| !all.shares.may_take(*business, *mode, free(*speed));
            (*business, KINDS.into_iter().filter(is_full).collect::<Vec<_>>())
        };
        all.full_businesses = held.iter().map(full_of).filter(|(_, full)| !full.is_empty()).collect();
        all.frees_awaited = (!all.full_businesses.is_empty()).then(|| (slots.all / FREED_PART).max(1));
        all.test_is_full = prompt.test <= 0;
        all.uncertain_is_full = uncertain.test <= 0;
        (held, free(speed), all.new_deliveries)
    }

    /// Whether the endpoint, the business, or test mode as a whole has no free slot.
    pub(crate) fn is_full(&self, endpoint: EndpointId, business: BusinessId, kind: Kind) -> bool {
        let all = self.lock();
        all.full.contains(&endpoint)
            || all.full_businesses.get(&business).is_some_and(|full| full.contains(&kind))
            || (kind.0 == Mode::Test && all.test_is_full)
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().held.len()
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn insert(&mut self, lease: Lease, endpoint: EndpointId, kind: Kind) {
        // Claimed again with another token while in flight: it counts once.
        if let Some(Held { lease: before, .. }) = self.held.get(&lease.delivery).copied() {
            self.remove(before);
        }
        self.held.insert(lease.delivery, Held { endpoint, kind, lease, occupies_slot: true });
        self.shares.add(lease.business, kind);
        *self.by_endpoint.entry(endpoint).or_default() += 1;
    }

    /// Takes the delivery out of the set. True if the loop waits for its slot.
    fn remove(&mut self, lease: Lease) -> bool {
        if !self.is_held(lease) {
            return false;
        }
        let awaited = self.free_slot(lease);
        if self.held.remove(&lease.delivery).is_some() {
            self.unwritten -= 1;
        }
        awaited
    }

    fn received(&mut self, lease: Lease) -> bool {
        self.unwritten < UNWRITTEN_MAX && self.is_held(lease) && self.free_slot(lease)
    }

    /// False once the delivery was claimed again: an earlier guard does not speak for the later claim.
    fn is_held(&self, lease: Lease) -> bool {
        self.held.get(&lease.delivery).is_some_and(|held| held.lease.token == lease.token)
    }

    /// Frees the slot. The delivery then counts as unwritten. True if the loop waits for its slot.
    fn free_slot(&mut self, lease: Lease) -> bool {
        let Some(held) = self.held.get_mut(&lease.delivery) else { return false };
        if !std::mem::take(&mut held.occupies_slot) {
            return false;
        }
        self.unwritten += 1;
        if let Some(count) = self.by_endpoint.get_mut(&held.endpoint) {
            *count -= 1;
            if *count == 0 {
                self.by_endpoint.remove(&held.endpoint);
            }
        }
        let (business, (mode, speed)) = (held.lease.business, held.kind);
        self.shares.remove(business, held.kind);
        let of_business = self.full_businesses.remove(&business).is_some();
        let of_test = mode == Mode::Test && std::mem::take(&mut self.test_is_full);
        let of_speed = speed == Speed::Uncertain && std::mem::take(&mut self.uncertain_is_full);
        let awaited = self.full.remove(&held.endpoint) || of_business || of_test || of_speed;
        self.count_freed() || awaited
    }

    /// True when the last awaited slot is free.
    fn count_freed(&mut self) -> bool {
        self.frees_awaited = self.frees_awaited.map(|left| left - 1);
        self.frees_awaited.take_if(|left| *left <= 0).is_some()
    }
}

impl InFlight {
    /// The endpoint has received the webhook: its slot is free. The delivery stays in flight until its outcome is
    /// written.
    pub(crate) fn received(&self) {
        if self.in_flight.lock().received(self.lease) {
            self.in_flight.wake.notify_one();
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.in_flight.lock().remove(self.lease) {
            self.in_flight.wake.notify_one();
        }
    }
}
