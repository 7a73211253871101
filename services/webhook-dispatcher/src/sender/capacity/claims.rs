//! What a claim may take, and what is counted when it has ended.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, Mode, WebhookDeliveryId};
use tokio::time::Instant;

use super::in_flight::{Origin, Usage};
use super::loads::Room;
use super::page::{Candidate, Page};
use super::waiting::DueEndpoint;
use super::{Capacity, InFlight, Key, State};
use crate::domain::{Slots, Speed};
use crate::store::{Asked, Lease};

/// The endpoints that a claim asks for.
pub(in crate::sender) struct Due {
    /// Endpoints of the two speeds come first by turns.
    pub pages: [Page; 2],
    /// When the rate limit of an endpoint without room allows a webhook, or its kept slots are free.
    pub limited_until: Option<Instant>,
    /// A business that holds as many slots as are free is not asked for.
    pub is_business_full: bool,
    /// The number of notes, by which the outcome is compared with what happened meanwhile.
    pub notes: u64,
}

/// What a claim for endpoints of one speed may take.
pub(in crate::sender) struct Plan {
    speed: Speed,
    /// The rate limit of endpoints without one of their own, and how many instances share the limits.
    pub per_second: i64,
    pub instances: i64,
    pub held: Vec<(BusinessId, Slots)>,
    pub free: Slots,
    pub excluded: Vec<WebhookDeliveryId>,
    /// How many new deliveries had taken slots.
    new_deliveries: u64,
}

/// A delivery that a claim has found.
pub(in crate::sender) struct Found {
    pub lease: Lease,
    pub endpoint: EndpointId,
    pub mode: Mode,
    pub max_per_second: Option<i32>,
}

impl Capacity {
    /// The endpoints to ask for if there is room for that many deliveries. The loop is woken later, when an endpoint without a
    /// free slot gets a slot.
    pub(in crate::sender) fn due(&self, room: usize, now: DateTime<Utc>) -> Due {
        let snapshot = {
            let State { waiting, loads, .. } = &mut *self.lock();
            waiting.snapshot(|endpoint| loads.speed(endpoint), now)
        };
        let (due, notes) = snapshot.into_order();
        let (began, mut full, mut limited_until) = (Instant::now(), HashSet::new(), None);
        let mut is_business_full = false;
        let mut candidates = HashMap::<Speed, Vec<Candidate>>::new();
        let mut state = self.lock();
        for DueEndpoint { key: (endpoint, business), speed, turn, business_waits_since } in due {
            if !state.in_flight.may_serve(business, speed, self.0.slots) {
                is_business_full = true;
                continue;
            }
            let occupied = state.in_flight.to_endpoint(endpoint);
            match state.loads.room(endpoint, occupied, began) {
                Room::Full => _ = full.insert(endpoint),
                Room::Later(at) => limited_until = limited_until.into_iter().chain([at]).min(),
                Room::Kept(until) => {
                    full.insert(endpoint);
                    limited_until = limited_until.into_iter().chain([until]).min();
                }
                Room::For(room) => {
                    let (in_flight, due_since) = (occupied.all, state.floors.of(endpoint));
                    let asked = Asked { endpoint, business, room, in_flight, due_since };
                    let candidate = Candidate { asked, turn, business_waits_since };
                    candidates.entry(speed).or_default().push(candidate);
                }
            }
        }
        state.in_flight.watch_endpoints(full);
        let State { pages, in_flight, .. } = &mut *state;
        let pages = pages.next(|speed| in_flight.free(speed, self.0.slots).min(room));
        drop(state);
        // Endpoints of one speed must not keep those of the other from being asked for.
        let pages = pages.map(|page| Page::of(page, candidates.remove(&page.0).unwrap_or_default()));
        Due { pages, limited_until, is_business_full, notes }
    }

    /// What a claim for endpoints of this speed may take. The loop is woken later, when a business, test mode or endpoints of
    /// uncertain speed may get a slot that they cannot have now.
    pub(in crate::sender) fn plan(&self, speed: Speed) -> Plan {
        let mut state = self.lock();
        let excluded = state.in_flight.excluded_from_claims();
        let Usage { held, free, new_deliveries } = state.in_flight.watch_shares(speed, self.0.slots);
        let (per_second, instances) = (state.loads.per_second(), state.loads.instances());
        Plan { speed, per_second, instances, held, free, excluded, new_deliveries }
    }

    /// A claim has asked for this page. `served` endpoints got slots, `skipped` ones still have due deliveries.
    pub(in crate::sender) fn asked(
        &self,
        (page, notes): (&Page, u64),
        (served, skipped): (&HashSet<Key>, &HashSet<Key>),
        now: DateTime<Utc>,
    ) {
        self.change(|State { pages, waiting, .. }| {
            pages.claimed(page, !served.is_empty());
            let keys = page.asked.iter().map(Asked::key);
            waiting.asked((keys, notes), page.speed, (served, skipped), now);
        });
    }

    /// When the first free deliveries of these endpoints were due. The claim may not have seen those that were noted meanwhile.
    pub(in crate::sender) fn looked(&self, due_since: Vec<(EndpointId, DateTime<Utc>)>, notes: u64) {
        let State { floors, waiting, .. } = &mut *self.lock();
        let newer = waiting.noted_since(notes);
        floors.raise(due_since.into_iter().filter(|(endpoint, _)| !newer.contains(endpoint)));
    }

    /// Counts claimed deliveries as in flight, and their tokens as spent. None for those whose slots were taken meanwhile.
    pub(in crate::sender) fn admit(
        &self,
        plan: &Plan,
        found: impl IntoIterator<Item = Found>,
    ) -> Vec<Option<InFlight>> {
        let now = Instant::now();
        let admit = |State { in_flight, loads, .. }: &mut State, found: &Found| {
            let Found { lease, endpoint, mode, max_per_second } = *found;
            let kind = (mode, plan.speed);
            let is_admitted =
                in_flight.admits_claimed(lease.business, kind, self.0.slots, plan.new_deliveries);
            if is_admitted {
                in_flight.insert(lease, endpoint, kind, Origin::Claimed);
                loads.count_sent(endpoint, max_per_second, now);
            }
            is_admitted.then(|| self.guard(lease, endpoint, true))
        };
        self.change(|state| found.into_iter().map(|found| admit(state, &found)).collect())
    }

    /// How many deliveries a claim may take now.
    pub(in crate::sender) fn room(&self, now: Instant) -> usize {
        let all = self.all();
        self.change(|State { in_flight, pace, .. }| {
            all.saturating_sub(in_flight.len()).min(pace.max_claim(now))
        })
    }

    /// A claim took this long and found deliveries for these endpoints.
    pub(in crate::sender) fn claimed(
        &self,
        times: (Instant, Instant),
        endpoints: impl IntoIterator<Item = EndpointId>,
    ) {
        self.change(|state| state.pace.claimed(times, endpoints.into_iter()));
    }

    /// When another claim may begin; at once if no more than `few` are in flight. None if there is no free slot. Wakes the
    /// loop when so many have ended that it should ask again.
    pub(in crate::sender) fn next_claim(&self, few: usize, now: Instant) -> Option<Instant> {
        let all = self.all();
        self.change(|state| {
            let in_flight = state.in_flight.len();
            let is_full = in_flight >= all;
            state.in_flight_awaited =
                (in_flight > few || is_full).then(|| if is_full { all - 1 } else { few });
            (!is_full).then(|| state.pace.next_claim(in_flight <= few, now))
        })
    }

    /// When the next noted endpoint that is not due becomes so.
    pub(in crate::sender) fn next_noted(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.lock().waiting.next_after(now)
    }
}
