//! The deliveries that this process is sending, and their leases.

use std::collections::HashMap;
use std::time::Duration;

use domain::{EndpointId, WebhookDeliveryId};
use tokio::time::Instant;

use crate::domain::Kind;
use crate::store::{LEASE, Lease};

/// Deliveries that were received but whose outcome is not written yet: they are repeated if the process dies.
pub(super) const UNWRITTEN_MAX: usize = 64;
/// A renewed lease is renewed again after this time: at every second look, with half of its time left. Each renewal writes
/// a row, and hanging endpoints hold hundreds.
const RENEWAL_DUE: Duration = Duration::from_millis(1_500);

#[derive(Debug, Default)]
pub(super) struct InFlightSet {
    held: HashMap<WebhookDeliveryId, Held>,
    /// How many were received while their outcomes are not written. Eager deliveries do not count.
    unwritten: usize,
    /// When all leases that were due were last renewed.
    renewed_at: Option<Instant>,
}

/// How a delivery came into flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sender) enum Origin {
    Claimed,
    /// New, and stored.
    Express,
    /// New, and not stored yet. The intake limits their number. When one is stored, it becomes [`Origin::Express`].
    Eager,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub lease: Lease,
    pub endpoint: EndpointId,
    pub kind: Kind,
    pub origin: Origin,
    renewed_at: Option<Instant>,
    /// It still counts against the limits of its endpoint and its business.
    occupies_slot: bool,
}

impl Held {
    pub(super) fn new(lease: Lease, endpoint: EndpointId, kind: Kind, origin: Origin) -> Self {
        Self { lease, endpoint, kind, origin, renewed_at: None, occupies_slot: true }
    }

    pub(super) fn is_new(&self) -> bool {
        self.origin != Origin::Claimed
    }
}

impl InFlightSet {
    /// Returns what gives its slot up: the same delivery, claimed again with another token.
    pub(super) fn insert(&mut self, held: Held) -> Option<Held> {
        let before = self.held.get(&held.lease.delivery).map(|before| before.lease);
        let replaced = before.and_then(|lease| self.remove(lease));
        self.held.insert(held.lease.delivery, held);
        replaced
    }

    /// Takes the delivery out of the set. Returns it if that frees its slot.
    pub(super) fn remove(&mut self, lease: Lease) -> Option<Held> {
        let freed = self.free_slot(lease);
        if self.is_held(lease)
            && let Some(held) = self.held.remove(&lease.delivery)
        {
            self.unwritten -= usize::from(held.origin != Origin::Eager);
        }
        freed
    }

    /// Frees the slot of a delivery that was received, but keeps it in the set until its outcome is written.
    pub(super) fn received(&mut self, lease: Lease) -> Option<Held> {
        let may_wait =
            self.held.get(&lease.delivery)?.origin == Origin::Eager || self.unwritten < UNWRITTEN_MAX;
        may_wait.then(|| self.free_slot(lease))?
    }

    /// An eager delivery is stored, and its outcome is not. From now on it counts as others do.
    pub(super) fn stored(&mut self, delivery: WebhookDeliveryId, token: i64) {
        let Some(held) = self.held.get_mut(&delivery) else { return };
        if held.origin == Origin::Eager && held.lease.token == token {
            held.origin = Origin::Express;
            self.unwritten += usize::from(!held.occupies_slot);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// The leases that must be renewed now.
    pub(super) fn due_leases(&self) -> Vec<Lease> {
        let is_due = |held: &&Held| held.renewed_at.is_none_or(|at| at.elapsed() >= RENEWAL_DUE);
        self.held.values().filter(is_due).map(|held| held.lease).collect()
    }

    /// The database extended these leases at that time or later.
    pub(super) fn mark_renewed(&mut self, leases: &[Lease], at: Instant) {
        for lease in leases {
            let held = self.held.get_mut(&lease.delivery);
            if let Some(held) = held.filter(|held| held.lease.token == lease.token) {
                held.renewed_at = Some(at);
            }
        }
    }

    /// All leases that were due at that time have been renewed.
    pub(super) fn mark_all_renewed(&mut self, at: Instant) {
        self.renewed_at = Some(at);
    }

    /// What this process must not claim, because it is still sending it: all deliveries in flight if their leases may have
    /// expired because the database was unreachable. Otherwise none: valid leases keep every process from claiming them.
    pub(super) fn excluded_from_claims(&self) -> Vec<WebhookDeliveryId> {
        let is_renewed = self.renewed_at.is_some_and(|at| at.elapsed() < LEASE - RENEWAL_DUE);
        if is_renewed { Vec::new() } else { self.held.keys().copied().collect() }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.unwritten == 0
    }

    /// False once the delivery was claimed again: an earlier guard does not speak for the later claim.
    fn is_held(&self, lease: Lease) -> bool {
        self.held.get(&lease.delivery).is_some_and(|held| held.lease.token == lease.token)
    }

    /// The delivery then counts as unwritten, unless it is eager.
    fn free_slot(&mut self, lease: Lease) -> Option<Held> {
        let held = self.held.get_mut(&lease.delivery).filter(|held| held.lease.token == lease.token)?;
        if !std::mem::take(&mut held.occupies_slot) {
            return None;
        }
        self.unwritten += usize::from(held.origin != Origin::Eager);
        Some(*held)
    }
}
