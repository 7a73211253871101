//! What this process may send. [`Capacity`] owns all counters of the sender, behind one mutex that no method holds while
//! it waits:
//!
//! | part | owns | limit |
//! | --- | --- | --- |
//! | [`in_flight`] | deliveries in flight and their leases | slots of all, of test mode, of endpoints that may hang, and of each business |
//! | [`loads`] | each endpoint's history | concurrent webhooks and webhooks per second of an endpoint |
//! | [`waiting`] | endpoints that may have due deliveries | – |
//! | [`page`] | what the next claims ask for | endpoints of one claim |
//! | [`floors`] | where looks at an endpoint's due deliveries begin | – |
//! | [`pace`] | new deliveries and the latest claim | the claims' part of the time |
//! | [`test_slots`] | connection tests in flight | their number, in all and of each business |
//!
//! Three callers use it. A command that accepts events reserves slots for new deliveries, and notes the endpoints of
//! waiting ones. The dispatch loop plans a claim, counts the claimed deliveries as in flight, and waits for
//! [`Capacity::woken`]. An attempt reports its result. An [`InFlight`] keeps its slot until it is dropped.
//!
//! Invariants: a new delivery takes a slot only if its endpoint, its business, its mode and the process have one left,
//! and its endpoint's rate a token. A claim is planned within the same limits, and repeats those of businesses if new
//! deliveries came meanwhile. Each of n instances takes one n-th of an endpoint's rate. All slots are free again when all guards are dropped.

mod claims;
mod floors;
mod guards;
mod in_flight;
mod loads;
mod pace;
mod page;
mod test_slots;
mod waiting;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, Mode, WebhookDeliveryId};
use tokio::sync::Notify;
use tokio::time::Instant;

use self::floors::Floors;
use self::in_flight::InFlightSet;
use self::loads::Loads;
use self::pace::Pace;
use self::page::Pages;
use self::test_slots::TestSlots;
use self::waiting::Waiting;
use crate::domain::Slots;
use crate::store::Lease;

pub(super) use self::claims::{Found, Plan};
pub(crate) use self::guards::{InFlight, TestSlot};
pub(super) use self::in_flight::Origin;
pub(super) use self::page::Page;
pub(crate) use self::test_slots::NoTestSlot;
pub(super) use self::waiting::Key;

/// Clones share the counters.
#[derive(Clone)]
pub(super) struct Capacity(Arc<Shared>);

struct Shared {
    slots: Slots,
    state: Mutex<State>,
    /// Rings when `State::wake` has a reason.
    bell: Notify,
}

struct State {
    in_flight: InFlightSet,
    loads: Loads,
    waiting: Waiting,
    floors: Floors,
    pace: Pace,
    tests: TestSlots,
    pages: Pages,
    wake: Wake,
    /// The loop waits until no more than this many deliveries are in flight.
    in_flight_awaited: Option<usize>,
}

/// Why the dispatch loop is woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wake {
    /// A delivery became due, or a slot is free for one that waits.
    pub claim: bool,
    /// Deliveries of unknown endpoints became due.
    pub scan: bool,
    /// Enough deliveries have ended: [`Capacity::next_claim`] has another result.
    pub ended: bool,
}

impl Capacity {
    /// `per_endpoint`: concurrent webhooks. `per_second`: for endpoints without a rate limit of their own.
    pub(super) fn new(concurrency: usize, per_endpoint: i64, per_second: u32) -> Self {
        let state = State {
            in_flight: InFlightSet::default(),
            loads: Loads::new(per_second, per_endpoint),
            waiting: Waiting::default(),
            floors: Floors::default(),
            pace: Pace::new(Instant::now()),
            tests: TestSlots::of(concurrency),
            pages: Pages::new(),
            wake: Wake::default(),
            in_flight_awaited: None,
        };
        let slots = Slots::of(concurrency);
        Self(Arc::new(Shared { slots, state: Mutex::new(state), bell: Notify::new() }))
    }

    /// That many instances share the rate limits from now on.
    pub(super) fn share(&self, instances: u32) {
        self.change(|state| state.loads.share(instances));
    }

    /// Counts a delivery as in flight whatever the limits are.
    pub(super) fn insert(&self, lease: Lease, endpoint: EndpointId, mode: Mode) -> InFlight {
        self.change(|State { in_flight, loads, .. }| {
            in_flight.insert(lease, endpoint, (mode, loads.speed(endpoint)), Origin::Claimed);
        });
        self.guard(lease, endpoint, false)
    }

    /// The same for a new delivery to an endpoint without a rate limit of its own. None if a limit is reached. Takes at
    /// most half of an endpoint's slots: waiting deliveries get the rest.
    pub(super) fn reserve(
        &self,
        lease: Lease,
        endpoint: EndpointId,
        mode: Mode,
        origin: Origin,
    ) -> Option<InFlight> {
        let (now, slots) = (Instant::now(), self.0.slots);
        let is_reserved = self.change(|State { in_flight, loads, pace, .. }| {
            let kind = (mode, loads.speed(endpoint));
            let occupied = in_flight.to_endpoint(endpoint);
            let is_free = occupied.new < loads.slots_of_new(endpoint)
                && occupied.all < loads.slots(endpoint)
                && in_flight.admits_new(lease.business, kind, slots)
                && loads.take_token(endpoint, now);
            loads.note_new(endpoint, now);
            if is_free {
                in_flight.insert(lease, endpoint, kind, origin);
                pace.sent_new(endpoint, now);
            }
            is_free
        });
        is_reserved.then(|| self.guard(lease, endpoint, true))
    }

    /// An eager delivery is stored while its outcome is unknown.
    pub(super) fn stored(&self, delivery: WebhookDeliveryId, token: i64) {
        self.lock().in_flight.stored(delivery, token);
    }

    /// Whether the endpoint responds quickly. One without history gets the chance to show it.
    pub(super) fn is_quick(&self, endpoint: EndpointId) -> bool {
        self.lock().loads.is_quick(endpoint)
    }

    /// Reserves a slot for a connection test.
    pub(super) fn reserve_test(&self, business: BusinessId) -> Result<TestSlot, NoTestSlot> {
        self.change(|state| state.tests.reserve(business))?;
        Ok(TestSlot { capacity: self.clone(), business })
    }

    /// These endpoints have deliveries that are due at that time.
    pub(super) fn note(&self, keys: impl IntoIterator<Item = Key>, at: DateTime<Utc>, now: DateTime<Utc>) {
        self.change(|State { waiting, floors, wake, .. }| {
            let keys = Vec::from_iter(keys);
            floors.lower(keys.iter().map(|(endpoint, _)| *endpoint), at);
            wake.claim |= waiting.note(keys, at, now);
        });
    }

    /// The same for new deliveries. Wakes the loop only if one of them has a slot: it is woken for the others when
    /// theirs is free.
    pub(super) fn note_new<'a>(
        &self,
        due: impl IntoIterator<Item = &'a (EndpointId, BusinessId, Mode)>,
        at: DateTime<Utc>,
    ) {
        self.change(|State { waiting, floors, in_flight, loads, wake, .. }| {
            for (endpoint, business, mode) in due {
                floors.lower([*endpoint], at);
                waiting.note([(*endpoint, *business)], at, at);
                let kind = (*mode, loads.speed(*endpoint));
                wake.claim |= !in_flight.is_full(*endpoint, *business, kind);
            }
        });
    }

    /// The loop itself has found due deliveries.
    pub(super) fn note_scanned(&self, due: &[Key], now: DateTime<Utc>) {
        self.change(|state| {
            state.loads.forget_idle(Instant::now());
            state.floors.forget(due.iter().map(|(endpoint, _)| endpoint));
            state.waiting.note(due.iter().copied(), now, now)
        });
    }

    /// Deliveries of unknown endpoints are due.
    pub(super) fn request_scan(&self) {
        self.change(|State { wake, .. }| (wake.claim, wake.scan) = (true, true));
    }

    /// Waits for a reason to wake. Skipped endpoints are then asked for again.
    pub(super) async fn woken(&self, now: impl Fn() -> DateTime<Utc>) -> Wake {
        self.0.bell.notified().await;
        let State { wake, waiting, .. } = &mut *self.lock();
        if wake.claim {
            waiting.retry_skipped(now());
        }
        std::mem::take(wake)
    }

    pub(super) fn leases(&self) -> Vec<Lease> {
        self.lock().in_flight.leases()
    }

    pub(super) fn due_leases(&self) -> Vec<Lease> {
        self.lock().in_flight.due_leases()
    }

    /// The database extended these leases at that time or later.
    pub(super) fn mark_renewed(&self, leases: &[Lease], at: Instant) {
        self.lock().in_flight.mark_renewed(leases, at);
    }

    /// All leases that were due at that time have been renewed.
    pub(super) fn mark_all_renewed(&self, at: Instant) {
        self.lock().in_flight.mark_all_renewed(at);
    }

    /// The deliveries in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.lock().in_flight.len()
    }

    fn all(&self) -> usize {
        usize::try_from(self.0.slots.all).unwrap_or_default()
    }

    fn guard(&self, lease: Lease, endpoint: EndpointId, has_token: bool) -> InFlight {
        let (capacity, since) = (self.clone(), Instant::now());
        InFlight { capacity, lease, endpoint, since, has_token: has_token.into() }
    }

    /// Changes the counters, and wakes the loop if it waits for that.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let (result, wake) = {
            let mut state = self.lock();
            let result = change(&mut state);
            (result, state.wake)
        };
        if wake != Wake::default() {
            self.0.bell.notify_one();
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
