//! Tests of the counters and their invariants.

use std::collections::HashMap;

use domain::{Clock, Entropy, WebhookDeliveryId};
use futures_util::FutureExt;
use proptest::prelude::*;

use super::in_flight::UNWRITTEN_MAX;
use super::*;
use crate::domain::{Slots, Speed};
use crate::store::{Asked, LEASE};

struct Fixture {
    capacity: Capacity,
    clock: Clock,
    entropy: Entropy,
}

impl Fixture {
    fn new(concurrency: usize, per_endpoint: i64) -> Self {
        let capacity = Capacity::new(concurrency, per_endpoint, 5_000);
        Self { capacity, clock: Clock::system(), entropy: Entropy::seeded(1) }
    }

    fn endpoint(&self) -> EndpointId {
        EndpointId::generate(&self.clock, &self.entropy)
    }

    fn business(&self) -> BusinessId {
        BusinessId::generate(&self.clock, &self.entropy)
    }

    fn lease(&self, business: BusinessId) -> Lease {
        Lease { delivery: WebhookDeliveryId::generate(&self.clock, &self.entropy), business, token: 1 }
    }

    fn insert(&self, endpoint: EndpointId, business: BusinessId) -> InFlight {
        self.capacity.insert(self.lease(business), endpoint, Mode::Live)
    }

    fn reserve(&self, endpoint: EndpointId, business: BusinessId, mode: Mode) -> Option<InFlight> {
        self.capacity.reserve(self.lease(business), endpoint, mode, Origin::Express)
    }

    /// Plans a claim for these endpoints, which have the same speed. Returns those that it asks for.
    fn plan(&self, due: &[Key]) -> (Vec<Asked>, Plan) {
        let now = self.clock.now();
        self.capacity.note(due.iter().copied(), now, now);
        let speed = due.first().map_or(Speed::Prompt, |key| self.capacity.lock().loads.speed(key.0));
        let page = self.capacity.due(usize::MAX, now).pages.into_iter().find(|page| page.speed == speed);
        let plan = self.capacity.plan(speed);
        self.woken();
        (page.map(|page| page.asked).unwrap_or_default(), plan)
    }

    /// Claims that many deliveries of an endpoint.
    fn claim(&self, plan: &Plan, (endpoint, business): Key, mode: Mode, count: i64) -> Vec<InFlight> {
        let found = |_| Found { lease: self.lease(business), endpoint, mode, max_per_second: None };
        self.capacity.admit(plan, (0..count).map(found)).into_iter().flatten().collect()
    }

    fn woken(&self) -> Wake {
        self.capacity.woken(|| self.clock.now()).now_or_never().unwrap_or_default()
    }

    fn to_endpoint(&self, endpoint: EndpointId) -> i64 {
        self.capacity.lock().in_flight.to_endpoint(endpoint).all
    }
}

const CLAIM: Wake = Wake { claim: true, scan: false, ended: false };
const NONE: Wake = Wake { claim: false, scan: false, ended: false };

#[test]
fn a_freed_slot_wakes_the_loop_if_a_delivery_waits_for_it() {
    let test = Fixture::new(64, 2);
    let (endpoint, business) = (test.endpoint(), test.business());
    let [one, other, third] = [(); 3].map(|()| test.insert(endpoint, business));
    one.attempted(true, 1);
    assert_eq!((test.to_endpoint(endpoint), test.capacity.in_flight(), test.woken()), (2, 3, NONE));
    assert!(test.plan(&[(endpoint, business)]).0.is_empty(), "both slots are in use");
    assert_eq!(test.woken(), NONE);
    other.attempted(true, 1);
    assert_eq!(test.woken(), CLAIM);
    drop((one, other));
    assert_eq!((test.to_endpoint(endpoint), test.capacity.in_flight(), test.woken()), (1, 1, NONE));
    let fourth = test.insert(endpoint, business);
    assert!(test.plan(&[(endpoint, business)]).0.is_empty());
    drop(third);
    assert_eq!(test.woken(), CLAIM, "a failure frees its slot, too");
    drop(fourth);
    assert_eq!((test.to_endpoint(endpoint), test.capacity.in_flight()), (0, 0));
}

#[test]
fn the_reasons_to_wake_are_distinct() {
    let test = Fixture::new(8, 8);
    let (endpoint, business, now) = (test.endpoint(), test.business(), test.clock.now());
    test.capacity.request_scan();
    assert_eq!(test.woken(), Wake { claim: true, scan: true, ended: false });
    test.capacity.note([(endpoint, business)], now, now);
    assert_eq!((test.woken(), test.woken()), (CLAIM, NONE));
    let mut guards: Vec<InFlight> = (0..8).map(|_| test.insert(endpoint, business)).collect();
    assert_eq!(test.capacity.next_claim(6, Instant::now()), None, "no slot is free");
    guards.truncate(7);
    assert_eq!(test.woken(), Wake { ended: true, ..NONE });
    assert!(test.capacity.next_claim(5, Instant::now()).is_some());
    guards.truncate(6);
    assert_eq!(test.woken(), NONE);
    guards.truncate(5);
    assert_eq!(test.woken(), Wake { ended: true, ..NONE });
    guards.clear();
    assert_eq!(test.woken(), NONE, "it was woken for this already");
}

#[test]
fn an_earlier_guard_does_not_end_a_later_claim() {
    let test = Fixture::new(64, 8);
    let (endpoint, first_lease) = (test.endpoint(), test.lease(test.business()));
    let second_lease = Lease { token: 2, ..first_lease };
    let first = test.capacity.insert(first_lease, endpoint, Mode::Live);
    let second = test.capacity.insert(second_lease, endpoint, Mode::Live);
    first.attempted(true, 1);
    drop(first);
    let tokens = || test.capacity.leases().iter().map(|lease| lease.token).collect::<Vec<_>>();
    assert_eq!((tokens(), test.to_endpoint(endpoint)), (vec![2], 1));
    drop(second);
    assert_eq!((tokens(), test.to_endpoint(endpoint)), (Vec::new(), 0));
    assert!(test.capacity.lock().in_flight.is_empty());
}

#[test]
fn only_leases_that_are_not_renewed_or_renewed_long_ago_are_due() {
    let test = Fixture::new(64, 8);
    let (endpoint, lease) = (test.endpoint(), test.lease(test.business()));
    let _sending = test.capacity.insert(lease, endpoint, Mode::Live);
    let due = || test.capacity.due_leases().iter().map(|lease| lease.token).collect::<Vec<_>>();
    let now = Instant::now();
    assert_eq!(due(), [lease.token]);
    test.capacity.mark_renewed(&[Lease { token: lease.token + 1, ..lease }], now);
    assert_eq!(due(), [lease.token], "another claim's");
    test.capacity.mark_renewed(&[lease], now);
    assert!(due().is_empty());
    test.capacity.mark_renewed(&[lease], now - LEASE / 2);
    assert_eq!(due(), [lease.token]);
}

#[test]
fn unwritten_deliveries_are_bounded() {
    let test = Fixture::new(512, 8);
    let (endpoint, business) = (test.endpoint(), test.business());
    let receive = |guards: &[InFlight]| guards.iter().for_each(|guard| guard.attempted(true, 1));
    let mut guards: Vec<InFlight> = (0..UNWRITTEN_MAX + 2).map(|_| test.insert(endpoint, business)).collect();
    receive(&guards);
    assert_eq!(test.to_endpoint(endpoint), 2, "the last two keep their slots");
    guards.remove(0);
    receive(&guards);
    assert_eq!((test.to_endpoint(endpoint), test.capacity.in_flight()), (1, UNWRITTEN_MAX + 1));
}

#[test]
fn eager_deliveries_count_as_unwritten_once_they_are_stored() {
    let test = Fixture::new(512, 64);
    let (endpoint, business) = (test.endpoint(), test.business());
    let unwritten: Vec<InFlight> = (0..UNWRITTEN_MAX - 1).map(|_| test.insert(endpoint, business)).collect();
    unwritten.iter().for_each(|guard| guard.attempted(true, 1));
    let eager = || test.capacity.reserve(test.lease(business), endpoint, Mode::Live, Origin::Eager).unwrap();
    let [before, after] = [eager(), eager()];
    before.attempted(true, 1);
    assert_eq!(test.to_endpoint(endpoint), 1, "not stored, it has another limit");
    for guard in [&before, &after] {
        test.capacity.stored(guard.lease().delivery, guard.lease().token);
    }
    after.attempted(true, 1);
    assert_eq!(test.to_endpoint(endpoint), 1, "the limit is reached");
    drop((before, after, unwritten));
    assert!(test.capacity.lock().in_flight.is_empty());
}

#[test]
fn a_business_at_its_share_wakes_the_loop_when_it_frees_a_slot() {
    let test = Fixture::new(4, 8);
    let (endpoint, business) = (test.endpoint(), test.business());
    let guards =
        [Mode::Test, Mode::Live].map(|mode| test.capacity.insert(test.lease(business), endpoint, mode));
    let (_, plan) = test.plan(&[]);
    assert_eq!(
        (plan.held, plan.free),
        (vec![(business, Slots { all: 2, test: 1 })], Slots { all: 2, test: 1 })
    );
    let due = |mode| {
        test.capacity.note_new(&[(endpoint, business, mode)], test.clock.now());
        test.woken()
    };
    assert_eq!(due(Mode::Test), NONE, "it waits for a slot");
    drop(guards);
    assert_eq!((test.woken(), due(Mode::Test)), (CLAIM, CLAIM));
}

#[test]
fn a_business_at_its_share_wakes_the_loop_once_when_others_free_slots() {
    let test = Fixture::new(40, 64);
    let (endpoint, [busy, other]) = (test.endpoint(), [(); 2].map(|()| test.business()));
    let _held = [(); 20].map(|()| test.insert(endpoint, busy));
    let mut others: Vec<InFlight> = (0..4).map(|_| test.insert(endpoint, other)).collect();
    test.plan(&[]);
    let wakes: Vec<Wake> = (0..4)
        .map(|_| {
            others.pop();
            test.woken()
        })
        .collect();
    assert_eq!(wakes, [NONE, CLAIM, NONE, NONE]);
}

/// The claim would find nothing for them, and they would take the places of others on its page.
#[test]
fn a_claim_does_not_ask_for_endpoints_of_a_business_that_holds_as_many_slots_as_are_free() {
    let test = Fixture::new(40, 64);
    let [endpoint, of_other] = [(); 2].map(|()| test.endpoint());
    let [busy, other] = [(); 2].map(|()| test.business());
    let mut held = Vec::from_iter((0..15).map(|_| test.insert(test.endpoint(), busy)));
    let (asked, _) = test.plan(&[(endpoint, busy), (of_other, other)]);
    assert_eq!(asked.iter().map(Asked::key).collect::<Vec<_>>(), [(of_other, other)]);
    assert!(test.capacity.due(64, test.clock.now()).is_business_full, "others may free slots for it");
    held.pop();
    assert_eq!((test.woken(), test.plan(&[(endpoint, busy)]).0.len()), (CLAIM, 2), "it has a slot again");
}

#[test]
fn a_claim_gives_way_to_new_deliveries_that_came_meanwhile() {
    let test = Fixture::new(20, 64);
    let (endpoint, [one, other]) = (test.endpoint(), [(); 2].map(|()| test.business()));
    let claim = |plan| test.claim(plan, (endpoint, one), Mode::Test, 4);
    let (_, plan) = test.plan(&[(endpoint, one)]);
    assert_eq!(claim(&plan).len(), 4, "its own arithmetic holds");
    let new = [(); 4].map(|()| test.reserve(endpoint, other, Mode::Test));
    assert!(new.iter().all(Option::is_some));
    assert_eq!(claim(&plan).len(), 2, "half of what is left");
}

#[test]
fn only_deliveries_with_a_free_slot_go_by_express() {
    let test = Fixture::new(10, 4);
    let [one, other, third] = [(); 3].map(|()| test.endpoint());
    let [business, second] = [(); 2].map(|()| test.business());
    let held = [(); 2].map(|()| test.reserve(one, business, Mode::Live));
    assert!(held.iter().all(Option::is_some), "half of the endpoint's slots");
    assert!(test.reserve(one, business, Mode::Live).is_none(), "and no more");
    let more = test.reserve(other, business, Mode::Live);
    assert!(more.is_some(), "fewer than are free");
    let full = test.reserve(other, business, Mode::Live);
    assert!(full.is_some() && test.reserve(third, business, Mode::Live).is_none(), "and no more");
    drop(full);
    let of_test = test.reserve(other, second, Mode::Test);
    assert!(of_test.is_some(), "another business finds a slot");
    drop(held);
    assert!(test.reserve(one, business, Mode::Live).is_some(), "slots are freed");
}

#[test]
fn a_refused_reservation_changes_nothing() {
    let test = Fixture { capacity: Capacity::new(64, 64, 3), ..Fixture::new(64, 64) };
    let (endpoint, business) = (test.endpoint(), test.business());
    let guards: Vec<_> = std::iter::from_fn(|| test.reserve(endpoint, business, Mode::Live)).collect();
    assert_eq!((guards.len(), test.capacity.in_flight()), (3, 3), "as many as the rate allows");
    drop(guards);
    assert_eq!((test.capacity.in_flight(), test.woken()), (0, NONE));
}

#[test]
fn a_webhook_that_is_not_sent_gives_its_token_back() {
    let test = Fixture { capacity: Capacity::new(64, 64, 1), ..Fixture::new(64, 64) };
    let (endpoint, business) = (test.endpoint(), test.business());
    let reserve = || test.reserve(endpoint, business, Mode::Live);
    let unsent = reserve().expect("a token");
    assert!(reserve().is_none());
    drop(unsent);
    let sent = reserve().expect("its token again");
    sent.spend_token();
    drop(sent);
    assert!(reserve().is_none(), "the second has not passed");
}

#[test]
fn endpoints_of_both_speeds_come_first_by_turns() {
    let test = Fixture::new(64, 8);
    let first = || test.capacity.due(64, test.clock.now()).pages[0].speed;
    assert_eq!([first(), first(), first()], [Speed::Prompt, Speed::Uncertain, Speed::Prompt]);
}

#[test]
fn hanging_endpoints_leave_slots_to_prompt_ones() {
    let test = Fixture::new(64, 8);
    let (prompt, business) = (test.endpoint(), test.business());
    let reserve = || test.reserve(prompt, business, Mode::Live);
    reserve().expect("a slot").attempted(true, 1);
    let hang = || test.reserve(test.endpoint(), test.business(), Mode::Live);
    let hanging: Vec<_> = std::iter::from_fn(hang).collect();
    assert_eq!(hanging.len(), 48);
    let (first, second) = (reserve(), reserve());
    assert!(first.is_some() && second.is_some(), "a quarter is left");
    assert!(test.plan(&[(test.endpoint(), test.business())]).1.free.all <= 0);
    assert_eq!(test.plan(&[(prompt, business)]).1.free.all, 14);
    drop(hanging);
    assert_eq!(test.woken(), CLAIM, "those that may hang wait for a slot");
}

#[test]
fn a_late_commit_is_not_sent() {
    let test = Fixture::new(64, 8);
    let mut reserved = test.insert(test.endpoint(), test.business());
    assert!(reserved.is_recent());
    reserved.since -= LEASE / 2;
    assert!(!reserved.is_recent());
}

#[test]
fn a_test_slot_is_free_when_dropped() {
    let (test, business) = (Fixture::new(8, 8), Fixture::new(8, 8).business());
    let slot = test.capacity.reserve_test(business);
    assert!(slot.is_ok());
    assert_eq!(test.capacity.reserve_test(business).err(), Some(NoTestSlot::Full));
    drop(slot);
    assert!(test.capacity.reserve_test(business).is_ok());
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Reserve(usize, usize, Mode),
    /// Takes as many as the plan allows to one endpoint, after that many reservations of another business.
    Claim(usize, usize, Mode, usize),
    Attempted(usize, bool),
    End(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let mode = || prop_oneof![Just(Mode::Live), Just(Mode::Test)];
    let step = prop_oneof![
        3 => (0..4_usize, 0..3_usize, mode()).prop_map(|(e, b, mode)| Step::Reserve(e, b, mode)),
        2 => (0..4_usize, 0..3_usize, mode(), 0..3_usize).prop_map(|(e, b, mode, new)| Step::Claim(e, b, mode, new)),
        2 => (0..64_usize, any::<bool>()).prop_map(|(index, succeeded)| Step::Attempted(index, succeeded)),
        2 => (0..64_usize).prop_map(Step::End),
    ];
    prop::collection::vec(step, 1..120)
}

const CONCURRENCY: usize = 16;
const PER_ENDPOINT: i64 = 6;
const PER_SECOND: u32 = 40;

proptest! {
    /// Whatever happens: no limit is exceeded, and all is given back.
    #[test]
    fn limits_hold_and_everything_is_given_back(steps in steps()) {
        let test = Fixture { capacity: Capacity::new(CONCURRENCY, PER_ENDPOINT, PER_SECOND), ..Fixture::new(1, 1) };
        let (endpoints, businesses) = ([(); 4].map(|()| test.endpoint()), [(); 3].map(|()| test.business()));
        let mut guards: Vec<(EndpointId, InFlight)> = Vec::new();
        let (mut sent, began): (HashMap<EndpointId, u32>, _) = (HashMap::new(), Instant::now());
        for step in steps {
            let before = guards.len();
            match step {
                Step::Reserve(endpoint, business, mode) => {
                    let endpoint = endpoints[endpoint];
                    guards.extend(test.reserve(endpoint, businesses[business], mode).map(|guard| (endpoint, guard)));
                }
                Step::Claim(endpoint, business, mode, new) => {
                    let key = (endpoints[endpoint], businesses[business]);
                    let (asked, plan) = test.plan(&[key]);
                    let room = asked.iter().find(|asked| asked.key() == key).map_or(0, |asked| asked.room);
                    let held = plan.held.iter().find(|held| held.0 == key.1).map_or(Slots::default(), |held| held.1);
                    // As the claim's statement: the n-th needs held + n - 1 < free - (n - 1).
                    let allowed = |held: i64, free: i64| ((free - held + 1) / 2).max(0);
                    let all = allowed(held.all, plan.free.all);
                    let share = if mode == Mode::Test { all.min(allowed(held.test, plan.free.test)) } else { all };
                    let other = endpoints[(endpoint + 1) % 4];
                    let reserve = |_| test.reserve(other, businesses[(business + 1) % 3], Mode::Test);
                    guards.extend((0..new).filter_map(reserve).map(|guard| (other, guard)));
                    guards.extend(test.claim(&plan, key, mode, room.min(share)).into_iter().map(|guard| (key.0, guard)));
                }
                Step::Attempted(index, succeeded) => {
                    if let Some((_, guard)) = guards.get(index) {
                        guard.attempted(succeeded, 1);
                    }
                }
                Step::End(index) => {
                    if index < guards.len() {
                        guards.swap_remove(index);
                    }
                }
            }
            for (endpoint, guard) in guards.iter().skip(before) {
                guard.spend_token();
                *sent.entry(*endpoint).or_default() += 1;
            }
            let slots = Slots::of(CONCURRENCY);
            let free = test.plan(&[]).1.free;
            prop_assert!(test.capacity.in_flight() <= CONCURRENCY && test.capacity.in_flight() == guards.len());
            prop_assert!(free.all >= 0 && free.test >= 0 && free.test <= slots.test, "{free:?}");
            for endpoint in endpoints {
                prop_assert!(test.to_endpoint(endpoint) <= PER_ENDPOINT);
                let most = f64::from(PER_SECOND) * (1.0 + began.elapsed().as_secs_f64());
                prop_assert!(f64::from(sent.get(&endpoint).copied().unwrap_or_default()) <= most);
            }
        }
        guards.clear();
        let (_, plan) = test.plan(&[]);
        prop_assert!(test.capacity.lock().in_flight.is_empty());
        prop_assert_eq!((plan.held, plan.free), (Vec::new(), Slots::of(CONCURRENCY)));
    }
}
