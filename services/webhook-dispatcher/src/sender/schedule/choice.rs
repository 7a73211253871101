//! Which endpoints the next claim asks for, and what becomes of its result. Businesses take turns, and then the endpoints of a
//! business, each with a quantum of deliveries, within the free slots.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, Mode};
use tokio::time::Instant;

use super::endpoint::{Limit, Room};
use super::in_flight::{Held, Origin};
use super::queue::Place;
use super::state::State;
use crate::domain::{Kind, Speed};
use crate::store::{Ask, Lease};

/// Deliveries of an endpoint in one turn, if others wait.
const QUANTUM: i64 = 8;
/// What one claim asks for at most.
const ENDPOINTS_MAX: usize = 64;
const DELIVERIES_MAX: i64 = 128;
/// One choice looks at this many endpoints. It asks for fewer of them, because some have no free slot.
const LOOKS_MAX: usize = 512;
/// Before it looks at others.
const LOOKS_PAUSE: Duration = Duration::from_millis(10);

/// An endpoint that a claim asks for. Its slots and tokens are taken, and given back as far as the claim does not use them.
#[derive(Debug)]
pub(in crate::sender) struct Asked {
    pub ask: Ask,
    kind: Kind,
    notes: u64,
}

/// What a claim asks for.
#[derive(Debug)]
pub(in crate::sender) struct Request {
    pub mode: Mode,
    pub asked: Vec<Asked>,
    pub began: Instant,
    /// When the view of the instances began by which its tokens were taken.
    pub view: Instant,
}

/// A delivery that a claim has found.
pub(in crate::sender) struct Found {
    pub lease: Lease,
    pub endpoint: EndpointId,
    pub due_at: DateTime<Utc>,
    pub max_per_second: Option<i32>,
}

/// Why an endpoint is not asked for.
enum NoTurn {
    /// It waits for one of its slots, or for a token.
    OfEndpoint,
    /// Its business, its mode or endpoints of its speed have no free slot.
    OfBusiness(BusinessId),
}

impl State {
    /// Takes slots and tokens for the next claim. If nothing may be claimed now, returns when that changes, unless something
    /// happens before.
    pub(super) fn choose(&mut self, mode: Mode, now: Instant) -> Result<Request, Option<Instant>> {
        if self.members.count(now) {
            self.view_changed();
        }
        if !self.members.is_valid(now) {
            return Err(None);
        }
        while let Some(endpoint) = self.turns(mode).waited(now) {
            self.place(endpoint, mode, now);
        }
        let free = self.free(Speed::Prompt);
        if free.all <= 0 || (mode == Mode::Test && free.test <= 0) {
            return Err(self.turns(mode).next_at());
        }
        let (mut asked, mut blocked, mut left) = (Vec::new(), Vec::new(), DELIVERIES_MAX);
        let looks = self.turns(mode).len().min(LOOKS_MAX);
        for _ in 0..looks {
            if left == 0 || asked.len() == ENDPOINTS_MAX {
                break;
            }
            let Some(endpoint) = self.turns(mode).take() else { break };
            match self.ask(endpoint, mode, left, now) {
                Ok(one) => {
                    left -= one.ask.room;
                    asked.push(one);
                }
                Err(NoTurn::OfBusiness(business)) => blocked.push((business, endpoint)),
                Err(NoTurn::OfEndpoint) => {}
            }
        }
        // Not before: they would have their turn again, instead of others.
        let are_all_seen = self.turns(mode).len() == 0;
        for (business, endpoint) in blocked {
            self.turns(mode).add(business, endpoint);
        }
        if !asked.is_empty() {
            return Ok(Request { mode, asked, began: now, view: self.members.since() });
        }
        Err(if are_all_seen { self.turns(mode).next_at() } else { Some(now + LOOKS_PAUSE) })
    }

    /// Fails if the endpoint cannot have a slot now.
    fn ask(&mut self, id: EndpointId, mode: Mode, left: i64, now: Instant) -> Result<Asked, NoTurn> {
        let rate = self.rate(id, now);
        let others = i64::try_from(self.turns(mode).len()).unwrap_or(i64::MAX);
        let endpoint = self.endpoints.get_mut(&id).ok_or(NoTurn::OfEndpoint)?;
        let (business, kind) = (endpoint.business, (mode, endpoint.speed()));
        // Without others, it may have all.
        let quantum = match endpoint.limit() {
            Limit::Unknown => 1,
            Limit::General | Limit::Own(_) => QUANTUM.max(left / (others + 1)),
        };
        let room = match endpoint.room(rate, now) {
            Room::For(room) => room.min(quantum).min(left),
            Room::Full(until) => {
                endpoint.queue(mode).place = Place::Full(until);
                if let Some(until) = until {
                    self.turns(mode).wait(id, until);
                }
                return Err(NoTurn::OfEndpoint);
            }
            Room::Later(at) => {
                endpoint.queue(mode).place = Place::Limited(at);
                self.turns(mode).wait(id, at);
                return Err(NoTurn::OfEndpoint);
            }
        };
        let room = self.take_slots(business, kind, room);
        if room == 0 {
            return Err(NoTurn::OfBusiness(business));
        }
        let endpoint = self.endpoints.get_mut(&id).ok_or(NoTurn::OfEndpoint)?;
        let (in_flight, is_preferred) = (endpoint.in_flight(), endpoint.is_preferred);
        endpoint.occupy(room, false, now);
        endpoint.bucket.take(room);
        let queue = endpoint.queue(mode);
        queue.place = Place::Asked;
        let (notes, since) = (queue.notes(), queue.since());
        let ask = Ask { endpoint: id, business, room, in_flight, is_preferred, since };
        Ok(Asked { ask, kind, notes })
    }

    /// Counts what the claim has found as in flight, and gives back what it has not used. An endpoint with fewer deliveries than
    /// were asked for has no more.
    pub(super) fn claimed(&mut self, request: &Request, found: &[Found], now: Instant) {
        let Request { mode, asked, began, view } = request;
        let mut of_endpoint = HashMap::<EndpointId, Vec<&Found>>::new();
        for one in found {
            of_endpoint.entry(one.endpoint).or_default().push(one);
        }
        for Asked { ask, kind, notes } in asked {
            let found = of_endpoint.remove(&ask.endpoint).unwrap_or_default();
            let used = i64::try_from(found.len()).unwrap_or(i64::MAX);
            self.give_back((ask, *view), *kind, ask.room - used, now);
            for one in &found {
                let held = Held::new(one.lease, ask.endpoint, *kind, Origin::Claimed);
                if let Some(replaced) = self.in_flight.insert(held) {
                    self.vacate(&replaced, now);
                }
            }
            let Some(endpoint) = self.endpoints.get_mut(&ask.endpoint) else { continue };
            if let Some(first) = found.first() {
                endpoint.set_limit(first.max_per_second.map_or(Limit::General, Limit::Own), now);
            }
            let queue = endpoint.queue(*mode);
            queue.place = Place::Idle;
            if let Some(first) = found.iter().map(|one| one.due_at).min().filter(|_| queue.notes() == *notes)
            {
                queue.found(first);
            }
            if used < ask.room {
                queue.emptied(*began, *notes);
            }
            self.place(ask.endpoint, *mode, now);
        }
        self.reserved -= asked.iter().map(|one| one.ask.room).sum::<i64>();
    }

    /// The claim has failed: its endpoints are asked for again.
    pub(super) fn not_claimed(&mut self, request: &Request, now: Instant) {
        for Asked { ask, kind, .. } in &request.asked {
            self.give_back((ask, request.view), *kind, ask.room, now);
            if let Some(endpoint) = self.endpoints.get_mut(&ask.endpoint) {
                endpoint.queue(request.mode).place = Place::Idle;
            }
            self.place(ask.endpoint, request.mode, now);
        }
        self.reserved -= request.asked.iter().map(|one| one.ask.room).sum::<i64>();
    }

    /// As many slots as the business may have now.
    fn take_slots(&mut self, business: BusinessId, kind: Kind, most: i64) -> i64 {
        let mut taken = 0;
        while taken < most && self.shares.may_take(business, kind.0, self.free(kind.1)) {
            self.shares.add(business, kind);
            self.reserved += 1;
            taken += 1;
        }
        taken
    }

    /// Tokens of a former view are gone.
    fn give_back(&mut self, (ask, view): (&Ask, Instant), kind: Kind, unused: i64, now: Instant) {
        let is_view = view == self.members.since();
        (0..unused).for_each(|_| self.shares.remove(ask.business, kind));
        if let Some(endpoint) = self.endpoints.get_mut(&ask.endpoint) {
            endpoint.vacate(unused, false);
            endpoint.bucket.give_back(if is_view { unused } else { 0 });
        }
        self.slots_are_free(ask.endpoint, now);
    }
}
