//! Tests of the state and its invariants.

mod guards;
mod properties;

use std::collections::HashMap;

use domain::{Clock, Entropy};

use super::choice::Asked;
use super::endpoint::Limit;
use super::*;
use crate::domain::Speed;

const OWN: i64 = 1;

fn limits(concurrency: usize, per_endpoint: i64) -> Limits {
    Limits { concurrency, per_endpoint, per_second: 1_000_000 }
}

/// A state with a time of its own.
struct Fixture {
    state: State,
    now: Instant,
    clock: Clock,
    entropy: Entropy,
}

impl Fixture {
    fn new(limits: Limits) -> Self {
        let start = Instant::now();
        let mut state = State::new(OWN, limits, start);
        state.update_members(&[Member { id: OWN, counts_in: Duration::ZERO }], start, start);
        let now = start + Duration::from_secs(1);
        let mut fixture = Self { state, now, clock: Clock::system(), entropy: Entropy::seeded(1) };
        fixture.beat();
        fixture
    }

    fn beat(&mut self) {
        let alone = [Member { id: OWN, counts_in: Duration::ZERO }];
        self.state.update_members(&alone, self.now, self.now);
        self.state.rings = [false; 2];
    }

    fn pass(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
    }

    fn business(&self) -> BusinessId {
        BusinessId::generate(&self.clock, &self.entropy)
    }

    fn key_of(&self, business: BusinessId) -> Key {
        (EndpointId::generate(&self.clock, &self.entropy), business)
    }

    fn key(&self) -> Key {
        self.key_of(self.business())
    }

    fn lease(&self, business: BusinessId) -> Lease {
        Lease { delivery: WebhookDeliveryId::generate(&self.clock, &self.entropy), business, token: 1 }
    }

    /// Its limit is known.
    fn note(&mut self, key: Key, mode: Mode) {
        self.state.known(key).set_limit(Limit::General, self.now);
        self.state.note(key, mode, self.now, self.now);
    }

    fn reserve(&mut self, (endpoint, business): Key, mode: Mode) -> Option<Lease> {
        let lease = self.lease(business);
        self.state.reserve(lease, endpoint, mode, Origin::Express, self.now).then_some(lease)
    }

    fn end(&mut self, lease: Lease) {
        if let Some(held) = self.state.in_flight.remove(lease) {
            self.state.vacate(&held, self.now);
        }
    }

    fn choose(&mut self, mode: Mode) -> Option<Request> {
        self.state.choose(mode, self.now).ok()
    }

    /// The endpoints that a claim would ask for, and for how many. It finds nothing.
    fn asks(&mut self, mode: Mode) -> Vec<(EndpointId, i64)> {
        let Some(request) = self.choose(mode) else { return Vec::new() };
        let asks = request.asked.iter().map(|one| (one.ask.endpoint, one.ask.room)).collect();
        self.state.not_claimed(&request, self.now);
        asks
    }

    /// The claim finds that many deliveries of each endpoint, as far as it asked for them.
    fn claimed(&mut self, request: &Request, of_each: i64) -> Vec<Lease> {
        let found = |one: &Asked| {
            let count = one.ask.room.min(of_each);
            let leases = Vec::from_iter((0..count).map(|_| self.lease(one.ask.business)));
            let endpoint = one.ask.endpoint;
            leases.into_iter().map(move |lease| Found {
                lease,
                endpoint,
                due_at: chrono::DateTime::UNIX_EPOCH,
                max_per_second: None,
            })
        };
        let found: Vec<Found> = request.asked.iter().flat_map(found).collect();
        self.state.claimed(request, &found, self.now);
        found.iter().map(|one| one.lease).collect()
    }

    /// The next claim, which finds that many of each.
    fn claim(&mut self, mode: Mode, of_each: i64) -> Vec<Lease> {
        let request = self.choose(mode);
        request.map(|request| self.claimed(&request, of_each)).unwrap_or_default()
    }

    fn set_speed(&mut self, key: Key, took_ms: i64) {
        self.state.known(key).record_result(true, took_ms);
    }
}

#[test]
fn only_deliveries_with_a_free_slot_go_by_express() {
    let mut test = Fixture::new(limits(10, 4));
    let business = test.business();
    let [one, other, third] = [(); 3].map(|()| test.key_of(business));
    let held = [(); 2].map(|()| test.reserve(one, Mode::Live));
    assert!(held.iter().all(Option::is_some), "half of the endpoint's slots");
    assert!(test.reserve(one, Mode::Live).is_none(), "and no more");
    assert!(test.reserve(other, Mode::Live).is_some(), "fewer than are free");
    let full = test.reserve(other, Mode::Live);
    assert!(full.is_some() && test.reserve(third, Mode::Live).is_none(), "and no more");
    test.end(full.unwrap());
    let elsewhere = test.key();
    assert!(test.reserve(elsewhere, Mode::Test).is_some(), "another business finds a slot");
    held.into_iter().flatten().for_each(|lease| test.end(lease));
    assert!(test.reserve(one, Mode::Live).is_some(), "slots are freed");
}

#[test]
fn hanging_endpoints_leave_slots_to_prompt_ones() {
    let mut test = Fixture::new(limits(64, 8));
    let prompt = test.key();
    test.set_speed(prompt, 1);
    let mut hanging = Vec::new();
    loop {
        let key = test.key();
        let Some(lease) = test.reserve(key, Mode::Live) else { break };
        hanging.push(lease);
    }
    assert_eq!(hanging.len(), 48);
    let unknown = test.key();
    test.note(unknown, Mode::Live);
    test.note(prompt, Mode::Live);
    assert_eq!(test.asks(Mode::Live), [(prompt.0, 8)], "a quarter is left to those that respond");
    test.end(hanging.pop().unwrap());
    assert_eq!(test.state.rings, [false, true], "the other waits for a slot");
    assert_eq!(test.asks(Mode::Live).len(), 2);
}

#[test]
fn a_claim_takes_its_slots_before_it_begins() {
    let mut test = Fixture::new(limits(16, 64));
    let (waiting, new) = (test.key(), test.key());
    test.note(waiting, Mode::Live);
    let request = test.choose(Mode::Live).unwrap();
    assert_eq!(
        request.asked[0].ask.room, 6,
        "a quarter is left to endpoints that respond, and one half of the rest"
    );
    let mut taken = 0;
    while test.reserve(new, Mode::Live).is_some() {
        taken += 1;
    }
    assert_eq!((taken, test.state.free(Speed::Uncertain).all), (3, 3), "half of what is left");
    assert_eq!(test.claimed(&request, 3).len(), 3);
    assert_eq!(test.state.free(Speed::Uncertain).all, 6, "what it has not found is free");
}

#[test]
fn an_endpoint_without_more_is_asked_for_again_when_something_becomes_due() {
    let mut test = Fixture::new(limits(64, 64));
    let key = test.key();
    test.note(key, Mode::Live);
    test.state.note(key, Mode::Live, test.now + Duration::from_millis(50), test.now);
    assert_eq!(test.claim(Mode::Live, 1).len(), 1);
    assert!(test.asks(Mode::Live).is_empty());
    assert_eq!(test.state.turns(Mode::Live).next_at(), Some(test.now + Duration::from_millis(50)));
    test.pass(50);
    let request = test.choose(Mode::Live).unwrap();
    test.note(key, Mode::Live);
    assert_eq!(test.claimed(&request, 0).len(), 0);
    assert_eq!(test.asks(Mode::Live).len(), 1, "one became due during the claim");
    assert_eq!(test.claim(Mode::Live, 8).len(), 7, "the slots that are left");
    assert_eq!(test.asks(Mode::Live).len(), 0, "no slot is free");
    assert!(test.asks(Mode::Test).is_empty(), "the other mode has a queue of its own");
}

#[test]
fn a_failed_claim_forgets_nothing() {
    let mut test = Fixture::new(limits(64, 64));
    let key = test.key();
    test.note(key, Mode::Test);
    for _ in 0..3 {
        assert_eq!(test.asks(Mode::Test), [(key.0, 8)]);
    }
    assert!(test.state.is_empty());
}

#[test]
fn an_endpoint_waits_for_one_of_its_slots() {
    let mut test = Fixture::new(limits(64, 2));
    let key = test.key();
    test.note(key, Mode::Live);
    let leases = test.claim(Mode::Live, 2);
    assert_eq!((leases.len(), test.asks(Mode::Live)), (2, Vec::new()));
    test.state.rings = [false; 2];
    test.end(leases[0]);
    assert_eq!(test.state.rings, [false, true]);
    assert_eq!(test.asks(Mode::Live), [(key.0, 1)]);
}

#[test]
fn without_a_valid_view_nothing_is_claimed() {
    let mut test = Fixture::new(limits(64, 8));
    let key = test.key();
    test.note(key, Mode::Live);
    test.pass(3_000);
    assert!(test.asks(Mode::Live).is_empty());
    test.beat();
    assert!(test.asks(Mode::Live).is_empty(), "another instance may have used the rate");
    test.pass(100);
    assert_eq!(test.asks(Mode::Live).len(), 1);
}

#[test]
fn an_instance_that_is_not_preferred_keeps_to_its_part_of_the_rate() {
    let mut test = Fixture::new(Limits { per_second: 40, ..limits(512, 512) });
    let both = [OWN, OWN + 1].map(|id| Member { id, counts_in: Duration::ZERO });
    test.state.update_members(&both, test.now, test.now);
    let mut parts = HashMap::new();
    while parts.len() < 2 {
        let key = test.key();
        parts.insert(test.state.known(key).is_preferred, key);
    }
    test.pass(1_000);
    for (is_preferred, key) in &parts {
        (0..40).for_each(|_| test.set_speed(*key, 1));
        test.note(*key, Mode::Live);
        let asked: i64 = std::iter::repeat_with(|| test.claim(Mode::Live, 128).len() as i64).take(8).sum();
        assert_eq!(asked, if *is_preferred { 30 } else { 10 }, "preferred: {is_preferred}");
    }
}

#[test]
fn an_endpoint_whose_limit_is_unknown_gets_one_webhook_first() {
    let mut test = Fixture::new(limits(64, 64));
    let key = test.key();
    test.state.note(key, Mode::Live, test.now, test.now);
    let request = test.choose(Mode::Live).unwrap();
    assert_eq!(request.asked[0].ask.room, 1);
    let lease = test.lease(key.1);
    let due_at = chrono::DateTime::UNIX_EPOCH;
    let found = Found { lease, endpoint: key.0, due_at, max_per_second: Some(3) };
    test.state.claimed(&request, &[found], test.now);
    assert_eq!(test.asks(Mode::Live), [], "its tokens were the operator's");
    test.pass(1_000);
    assert_eq!(test.asks(Mode::Live), [(key.0, 3)]);
}

#[test]
fn endpoints_of_a_business_without_a_slot_do_not_take_the_turns_of_others() {
    let mut test = Fixture::new(limits(64, 64));
    let mut hanging = Vec::new();
    loop {
        let key = test.key();
        let Some(lease) = test.reserve(key, Mode::Live) else { break };
        hanging.push((key, lease));
    }
    for (key, _) in &hanging {
        test.note(*key, Mode::Live);
    }
    let business = test.business();
    let of_business = Vec::from_iter((0..6).map(|_| test.key_of(business)));
    for key in &of_business {
        test.set_speed(*key, 1);
        test.note(*key, Mode::Live);
    }
    let asked: i64 = test.asks(Mode::Live).iter().map(|(_, room)| room).sum();
    assert_eq!(asked, 8, "half of what is free for those that respond");
}

#[test]
fn businesses_and_their_endpoints_take_turns() {
    let mut test = Fixture::new(limits(512, 512));
    let (busy, other) = (test.business(), test.key());
    let of_busy = Vec::from_iter((0..200).map(|_| test.key_of(busy)));
    of_busy.iter().for_each(|key| test.note(*key, Mode::Live));
    let first = test.claim(Mode::Live, 8);
    assert_eq!(first.len(), 128);
    test.note(other, Mode::Live);
    let asks = test.asks(Mode::Live);
    assert!(
        asks.iter().take(2).any(|(endpoint, _)| *endpoint == other.0),
        "it does not wait for all of them"
    );
}
