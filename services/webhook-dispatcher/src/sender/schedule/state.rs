//! The state of the sender, without locks and without waiting.

use std::collections::HashMap;

use domain::{BusinessId, EndpointId, Mode};
use strum::VariantArray;
use tokio::time::Instant;

use super::bucket::Bucket;
use super::endpoint::{Endpoint, Limit};
use super::in_flight::{Held, InFlightSet, Origin};
use super::members::Members;
use super::queue::Place;
use super::test_slots::TestSlots;
use super::turns::Turns;
use crate::domain::{Shares, Slots, Speed};
use crate::store::{Lease, Member};

pub(crate) type Key = (EndpointId, BusinessId);

/// The operator's limits.
#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct Limits {
    /// Concurrent attempts.
    pub concurrency: usize,
    /// To one endpoint.
    pub per_endpoint: i64,
    /// The rate limit of endpoints without one of their own.
    pub per_second: u32,
}

pub(super) struct State {
    limits: Limits,
    slots: Slots,
    pub(super) endpoints: HashMap<EndpointId, Endpoint>,
    turns: [Turns; 2],
    pub(super) in_flight: InFlightSet,
    /// The slots of each business: of deliveries in flight, and of claims that run.
    pub(super) shares: Shares,
    /// The slots of claims that run.
    pub(super) reserved: i64,
    pub(super) members: Members,
    pub(super) tests: TestSlots,
    /// The modes for which another choice may have another result.
    pub(super) rings: [bool; 2],
    /// Endpoints that prefer this instance now may have due deliveries.
    view_has_changed: bool,
}

impl State {
    pub(super) fn new(instance: i64, limits: Limits, now: Instant) -> Self {
        Self {
            limits,
            slots: Slots::of(limits.concurrency),
            endpoints: HashMap::new(),
            turns: Default::default(),
            in_flight: InFlightSet::default(),
            shares: Shares::default(),
            reserved: 0,
            members: Members::new(instance, now),
            tests: TestSlots::of(limits.concurrency),
            rings: [false; 2],
            view_has_changed: false,
        }
    }

    pub(super) fn turns(&mut self, mode: Mode) -> &mut Turns {
        &mut self.turns[mode as usize]
    }

    /// The slots that are free for endpoints of this speed.
    pub(super) fn free(&self, speed: Speed) -> Slots {
        let reserved = usize::try_from(self.reserved).unwrap_or_default();
        self.shares.free(speed, self.slots, self.in_flight.len() + reserved)
    }

    /// Webhooks per second that this instance may send to the endpoint.
    pub(super) fn rate(&self, id: EndpointId, now: Instant) -> f64 {
        let Some(endpoint) = self.endpoints.get(&id) else { return 0.0 };
        let rate = match endpoint.limit() {
            Limit::Own(limit) => f64::from(limit),
            Limit::General | Limit::Unknown => f64::from(self.limits.per_second),
        };
        self.members.part_of_rate(rate, endpoint.is_preferred && self.members.is_valid(now))
    }

    pub(super) fn known(&mut self, (id, business): Key) -> &mut Endpoint {
        let Self { endpoints, members, limits, .. } = self;
        endpoints.entry(id).or_insert_with(|| {
            let bucket = Bucket::empty(members.since());
            Endpoint::new(business, members.are_preferred_by(id), limits.per_endpoint, bucket)
        })
    }

    pub(super) fn note(&mut self, key: Key, mode: Mode, at: Instant, now: Instant) {
        if self.known(key).queue(mode).note(at, now) {
            self.place(key.0, mode, now);
        }
    }

    pub(super) fn note_scanned(&mut self, key: Key, mode: Mode, now: Instant) {
        self.known(key).queue(mode).look_at_everything();
        self.note(key, mode, now, now);
    }

    /// Puts the endpoint where it belongs, unless it has its turn already or waits for a slot.
    pub(super) fn place(&mut self, id: EndpointId, mode: Mode, now: Instant) {
        let Some(endpoint) = self.endpoints.get_mut(&id) else { return };
        let (business, queue) = (endpoint.business, endpoint.queue(mode));
        let turns = &mut self.turns[mode as usize];
        match queue.place {
            Place::Listed | Place::Asked => return,
            // A slot that becomes free ends its wait.
            Place::Full(until) if until.is_none_or(|until| until > now) => return,
            Place::Limited(until) if until > now => return,
            Place::Full(Some(until)) | Place::Limited(until) | Place::Later(until) => {
                turns.stop_waiting(id, until);
            }
            Place::Full(None) | Place::Idle => {}
        }
        let is_next = match queue.next() {
            None => {
                queue.place = Place::Idle;
                false
            }
            Some(at) if at > now => {
                queue.place = Place::Later(at);
                turns.wait(id, at)
            }
            Some(_) => {
                queue.place = Place::Listed;
                turns.add(business, id);
                true
            }
        };
        self.rings[mode as usize] |= is_next;
    }

    /// Counts a delivery as in flight whatever the limits are.
    pub(super) fn insert(&mut self, lease: Lease, id: EndpointId, mode: Mode, origin: Origin, now: Instant) {
        let endpoint = self.known((id, lease.business));
        let held = Held::new(lease, id, (mode, endpoint.speed()), origin);
        endpoint.occupy(1, held.is_new(), now);
        self.shares.add(lease.business, held.kind);
        if let Some(replaced) = self.in_flight.insert(held) {
            self.vacate(&replaced, now);
        }
    }

    /// The same for a new delivery to an endpoint without a limit of its own. False if a limit is reached.
    pub(super) fn reserve(
        &mut self,
        lease: Lease,
        id: EndpointId,
        mode: Mode,
        origin: Origin,
        now: Instant,
    ) -> bool {
        self.known((id, lease.business)).set_limit(Limit::General, now);
        let rate = self.rate(id, now);
        let in_flight = self.in_flight.len() + usize::try_from(self.reserved).unwrap_or_default();
        let slots = (self.slots, in_flight);
        let Some(endpoint) = self.endpoints.get_mut(&id) else { return false };
        endpoint.bucket.fill(rate, now);
        let is_free = endpoint.admits_new(now)
            && self.shares.may_take_new(lease.business, (mode, endpoint.speed()), slots)
            && endpoint.bucket.whole_tokens() > 0;
        if is_free {
            endpoint.bucket.take(1);
            self.insert(lease, id, mode, origin, now);
        }
        is_free
    }

    /// A delivery has given its slot up.
    pub(super) fn vacate(&mut self, held: &Held, now: Instant) {
        self.shares.remove(held.lease.business, held.kind);
        let Some(endpoint) = self.endpoints.get_mut(&held.endpoint) else { return };
        endpoint.vacate(1, held.is_new());
        self.slots_are_free(held.endpoint, now);
    }

    /// Slots of the endpoint are free.
    pub(super) fn slots_are_free(&mut self, id: EndpointId, now: Instant) {
        for mode in Mode::VARIANTS {
            self.end_wait_for_slot(id, *mode, now);
        }
        self.ring_for_slots();
    }

    /// Endpoints that have their turn may wait for a slot of their business or of the process.
    pub(super) fn ring_for_slots(&mut self) {
        for (ring, turns) in self.rings.iter_mut().zip(&self.turns) {
            *ring |= turns.len() > 0;
        }
    }

    fn end_wait_for_slot(&mut self, id: EndpointId, mode: Mode, now: Instant) {
        let Some(endpoint) = self.endpoints.get_mut(&id) else { return };
        let queue = endpoint.queue(mode);
        if let Place::Full(until) = queue.place {
            queue.place = Place::Idle;
            if let Some(until) = until {
                self.turns[mode as usize].stop_waiting(id, until);
            }
            self.place(id, mode, now);
        }
    }

    pub(super) fn update_members(&mut self, members: &[Member], began: Instant, now: Instant) -> bool {
        if self.members.update(members, began, now) {
            self.view_changed();
        }
        // Claims may have waited for a valid view.
        self.rings = [true; 2];
        std::mem::take(&mut self.view_has_changed)
    }

    /// Another instance may have used the rate until now.
    pub(super) fn view_changed(&mut self) {
        let Self { endpoints, members, view_has_changed, .. } = self;
        *view_has_changed = true;
        let since = members.since();
        for (id, endpoint) in endpoints.iter_mut() {
            endpoint.is_preferred = members.are_preferred_by(*id);
            endpoint.bucket.drain(since);
        }
        let ids: Vec<EndpointId> = endpoints.keys().copied().collect();
        for (id, mode) in ids.iter().flat_map(|id| Mode::VARIANTS.iter().map(move |mode| (*id, *mode))) {
            self.end_wait_for_token(id, mode, since);
        }
    }

    /// Its rate has changed.
    fn end_wait_for_token(&mut self, id: EndpointId, mode: Mode, now: Instant) {
        let Some(endpoint) = self.endpoints.get_mut(&id) else { return };
        let queue = endpoint.queue(mode);
        if let Place::Limited(until) = queue.place {
            queue.place = Place::Idle;
            self.turns[mode as usize].stop_waiting(id, until);
            self.place(id, mode, now);
        }
    }

    pub(super) fn forget_idle(&mut self, now: Instant) {
        self.endpoints.retain(|_, endpoint| !endpoint.is_idle(now));
    }

    /// Whether nothing is counted.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        let is_free = |endpoint: &Endpoint| endpoint.in_flight() == 0;
        self.in_flight.is_empty()
            && self.reserved == 0
            && self.free(Speed::Prompt) == self.slots
            && self.endpoints.values().all(is_free)
    }
}
