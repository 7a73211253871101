//! The deliveries that this process is sending, and the limits that have no room for more.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use domain::{BusinessId, EndpointId, Mode, WebhookDeliveryId};
use tokio::time::Instant;

use crate::domain::{Kind, Shares, Slots, Speed};
use crate::store::{LEASE, Lease};

/// Deliveries that were received but whose outcome is not written yet: they are repeated if the process dies.
pub(super) const UNWRITTEN_MAX: usize = 64;
/// A renewed lease is renewed again after this time: at every second look, with half of its time left. Each renewal writes
/// a row, and hanging endpoints hold hundreds.
const RENEWAL_DUE: Duration = Duration::from_millis(1_500);
/// The loop is woken for businesses at their limit when one sixteenth of all slots has been freed.
const FREED_PART: i64 = 16;

const KINDS: [Kind; 4] = [
    (Mode::Live, Speed::Prompt),
    (Mode::Live, Speed::Uncertain),
    (Mode::Test, Speed::Prompt),
    (Mode::Test, Speed::Uncertain),
];

/// All deliveries in flight, with their leases.
#[derive(Default)]
pub(super) struct InFlightSet {
    held: HashMap<WebhookDeliveryId, Held>,
    by_endpoint: HashMap<EndpointId, Occupied>,
    shares: Shares,
    /// Those that were received and are not written yet, without eager ones.
    unwritten: usize,
    /// Without a free slot at the latest claim.
    full: HashSet<EndpointId>,
    full_businesses: HashMap<BusinessId, Vec<Kind>>,
    test_is_full: bool,
    uncertain_is_full: bool,
    /// The loop is woken for businesses at their limit when so many more slots have been freed, by any business. None if no
    /// business is at its limit, or it was woken.
    frees_awaited: Option<i64>,
    /// When all leases that were due were last renewed.
    renewed_at: Option<Instant>,
    /// How often a new delivery has taken a slot.
    new_deliveries: u64,
}

/// How a delivery came into flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sender) enum Origin {
    Claimed,
    /// New, and stored.
    Express,
    /// New, and not stored yet. Those that wait for that have a limit of their own. Stored ones become [`Origin::Express`].
    Eager,
}

/// The slots of an endpoint that are in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Occupied {
    pub all: i64,
    /// By new deliveries.
    pub new: i64,
}

#[derive(Clone, Copy)]
struct Held {
    endpoint: EndpointId,
    kind: Kind,
    origin: Origin,
    lease: Lease,
    renewed_at: Option<Instant>,
    /// It still counts against the limits of its endpoint and its business.
    occupies_slot: bool,
}

/// The slots at the time of a claim.
pub(super) struct Usage {
    pub held: Vec<(BusinessId, Slots)>,
    pub free: Slots,
    pub new_deliveries: u64,
}

impl InFlightSet {
    pub(super) fn insert(&mut self, lease: Lease, endpoint: EndpointId, kind: Kind, origin: Origin) {
        // Claimed again with another token while in flight: it counts once.
        if let Some(Held { lease: before, .. }) = self.held.get(&lease.delivery).copied() {
            self.remove(before);
        }
        let held = Held { endpoint, kind, origin, lease, renewed_at: None, occupies_slot: true };
        self.held.insert(lease.delivery, held);
        self.shares.add(lease.business, kind);
        let is_new = origin != Origin::Claimed;
        let occupied = self.by_endpoint.entry(endpoint).or_default();
        occupied.all += 1;
        occupied.new += i64::from(is_new);
        self.new_deliveries += u64::from(is_new);
    }

    /// Whether a new delivery of the business may take a slot.
    pub(super) fn admits_new(&self, business: BusinessId, kind: Kind, slots: Slots) -> bool {
        self.shares.may_take_new(business, kind, (slots, self.held.len()))
    }

    /// Whether a claimed delivery still has its slot. If new deliveries took slots since [`Self::watch_shares`] returned `seen`,
    /// only if its business still may take one: together, both could use up the last slots of test mode.
    pub(super) fn admits_claimed(
        &self,
        business: BusinessId,
        (mode, speed): Kind,
        slots: Slots,
        seen: u64,
    ) -> bool {
        let free = self.shares.free(speed, slots, self.held.len());
        self.new_deliveries == seen || self.shares.may_take(business, mode, free)
    }

    pub(super) fn leases(&self) -> Vec<Lease> {
        self.held.values().map(|held| held.lease).collect()
    }

    /// The leases that must be renewed now.
    pub(super) fn due_leases(&self) -> Vec<Lease> {
        let is_due = |held: &&Held| held.renewed_at.is_none_or(|at| at.elapsed() >= RENEWAL_DUE);
        self.held.values().filter(is_due).map(|held| held.lease).collect()
    }

    /// The database extended these leases at that time or later.
    pub(super) fn mark_renewed(&mut self, leases: &[Lease], at: Instant) {
        for lease in leases {
            if let Some(held) =
                self.held.get_mut(&lease.delivery).filter(|held| held.lease.token == lease.token)
            {
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

    /// Whether a claim for endpoints of this speed may find a delivery of the business. If it holds as many slots as are
    /// free, none has a chance.
    pub(super) fn may_serve(&self, business: BusinessId, speed: Speed, slots: Slots) -> bool {
        let free = self.shares.free(speed, slots, self.held.len());
        self.shares.may_take(business, Mode::Live, free)
    }

    /// The slots that a claim for endpoints of this speed may fill.
    pub(super) fn free(&self, speed: Speed, slots: Slots) -> usize {
        usize::try_from(self.shares.free(speed, slots, self.held.len()).all).unwrap_or_default()
    }

    /// The attempts in flight to an endpoint.
    pub(super) fn to_endpoint(&self, endpoint: EndpointId) -> Occupied {
        self.by_endpoint.get(&endpoint).copied().unwrap_or_default()
    }

    /// From this call on, [`Self::remove`] and [`Self::received`] report the slots of these endpoints.
    pub(super) fn watch_endpoints(&mut self, full: HashSet<EndpointId>) {
        self.full = full;
    }

    /// The slots at this time. From this call on, [`Self::remove`] and [`Self::received`] report the slots that a business
    /// at its limit waits for; and once that other businesses have freed enough.
    pub(super) fn watch_shares(&mut self, speed: Speed, slots: Slots) -> Usage {
        let free = |speed| self.shares.free(speed, slots, self.held.len());
        let (prompt, uncertain) = (free(Speed::Prompt), free(Speed::Uncertain));
        let free = |speed| if speed == Speed::Prompt { prompt } else { uncertain };
        let held: Vec<_> = self.shares.held().collect();
        let full_of = |(business, _): &(BusinessId, Slots)| {
            let is_full = |(mode, speed): &Kind| !self.shares.may_take(*business, *mode, free(*speed));
            (*business, KINDS.into_iter().filter(is_full).collect::<Vec<_>>())
        };
        self.full_businesses = held.iter().map(full_of).filter(|(_, full)| !full.is_empty()).collect();
        self.frees_awaited = (!self.full_businesses.is_empty()).then(|| (slots.all / FREED_PART).max(1));
        self.test_is_full = prompt.test <= 0;
        self.uncertain_is_full = uncertain.test <= 0;
        Usage { held, free: free(speed), new_deliveries: self.new_deliveries }
    }

    /// Whether the endpoint, the business, or test mode as a whole has no free slot.
    pub(super) fn is_full(&self, endpoint: EndpointId, business: BusinessId, kind: Kind) -> bool {
        self.full.contains(&endpoint)
            || self.full_businesses.get(&business).is_some_and(|full| full.contains(&kind))
            || (kind.0 == Mode::Test && self.test_is_full)
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether nothing is counted.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.by_endpoint.is_empty() && self.unwritten == 0
    }

    /// Takes the delivery out of the set. True if a waiting delivery may get its slot.
    pub(super) fn remove(&mut self, lease: Lease) -> bool {
        if !self.is_held(lease) {
            return false;
        }
        let awaited = self.free_slot(lease);
        if let Some(held) = self.held.remove(&lease.delivery) {
            self.unwritten -= usize::from(held.origin != Origin::Eager);
        }
        awaited
    }

    /// Frees the slot, but keeps the delivery in the set. True as for [`Self::remove`].
    pub(super) fn received(&mut self, lease: Lease) -> bool {
        let Some(held) = self.held.get(&lease.delivery) else { return false };
        let may_wait = held.origin == Origin::Eager || self.unwritten < UNWRITTEN_MAX;
        may_wait && self.is_held(lease) && self.free_slot(lease)
    }

    /// An eager delivery is stored, and its outcome is not. From now on it counts as others do.
    pub(super) fn stored(&mut self, delivery: WebhookDeliveryId, token: i64) {
        let Some(held) = self.held.get_mut(&delivery) else { return };
        if held.origin == Origin::Eager && held.lease.token == token {
            held.origin = Origin::Express;
            self.unwritten += usize::from(!held.occupies_slot);
        }
    }

    /// False once the delivery was claimed again: an earlier guard does not speak for the later claim.
    fn is_held(&self, lease: Lease) -> bool {
        self.held.get(&lease.delivery).is_some_and(|held| held.lease.token == lease.token)
    }

    /// Frees the slot. The delivery then counts as unwritten, unless it is eager.
    fn free_slot(&mut self, lease: Lease) -> bool {
        let Some(held) = self.held.get_mut(&lease.delivery) else { return false };
        if !std::mem::take(&mut held.occupies_slot) {
            return false;
        }
        self.unwritten += usize::from(held.origin != Origin::Eager);
        if let Some(occupied) = self.by_endpoint.get_mut(&held.endpoint) {
            occupied.all -= 1;
            occupied.new -= i64::from(held.origin != Origin::Claimed);
            if occupied.all == 0 {
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
