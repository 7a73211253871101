//! Tests of the deliveries in flight.

use domain::{BusinessId, Clock, Entropy};
use futures_util::FutureExt;

use super::*;

fn lease(clock: &Clock, entropy: &Entropy) -> Lease {
    let (delivery, business) =
        (WebhookDeliveryId::generate(clock, entropy), BusinessId::generate(clock, entropy));
    Lease { delivery, business, token: 1 }
}

#[test]
fn a_freed_slot_wakes_the_loop_if_it_waits_for_it() {
    let (clock, entropy, wake) = (Clock::system(), Entropy::seeded(1), Arc::new(Notify::new()));
    let in_flight = InFlightSet::new(wake.clone());
    let endpoint = EndpointId::generate(&clock, &entropy);
    let insert = || in_flight.insert(lease(&clock, &entropy), endpoint, (Mode::Live, Speed::Prompt));
    let woken = || wake.notified().now_or_never().is_some();
    let (one, other, third) = (insert(), insert(), insert());
    assert_eq!(in_flight.by_endpoint(), [(endpoint, 3)]);

    one.received();
    assert_eq!((in_flight.by_endpoint(), in_flight.len(), woken()), (vec![(endpoint, 2)], 3, false));
    in_flight.wake_when_free([(endpoint, 3)].into_iter());
    assert!(woken(), "it was free before the loop waited");

    in_flight.wake_when_free([(endpoint, 2)].into_iter());
    assert!(!woken());
    other.received();
    assert!(woken());
    drop((one, other));
    assert_eq!((in_flight.by_endpoint(), in_flight.len(), woken()), (vec![(endpoint, 1)], 1, false));

    in_flight.wake_when_free([(endpoint, 1)].into_iter());
    drop(third);
    assert!(woken(), "a failure frees its slot, too");
    assert_eq!((in_flight.by_endpoint(), in_flight.len()), (Vec::new(), 0));
}

#[test]
fn an_earlier_guard_does_not_end_a_later_claim() {
    let (clock, entropy, in_flight) = (Clock::system(), Entropy::seeded(1), InFlightSet::new(Arc::default()));
    let endpoint = EndpointId::generate(&clock, &entropy);
    let first_lease = lease(&clock, &entropy);
    let second_lease = Lease { token: 2, ..first_lease };
    let first = in_flight.insert(first_lease, endpoint, (Mode::Live, Speed::Prompt));
    let second = in_flight.insert(second_lease, endpoint, (Mode::Live, Speed::Prompt));
    first.received();
    drop(first);
    let tokens = || in_flight.leases().iter().map(|lease| lease.token).collect::<Vec<_>>();
    assert_eq!((tokens(), in_flight.by_endpoint(), in_flight.len()), (vec![2], vec![(endpoint, 1)], 1));
    drop(second);
    assert_eq!((tokens(), in_flight.by_endpoint(), in_flight.len()), (Vec::new(), Vec::new(), 0));
    assert_eq!(in_flight.lock().unwritten, 0);
}

#[test]
fn unwritten_deliveries_are_bounded() {
    let (clock, entropy, in_flight) = (Clock::system(), Entropy::seeded(1), InFlightSet::new(Arc::default()));
    let endpoint = EndpointId::generate(&clock, &entropy);
    let insert = |_| in_flight.insert(lease(&clock, &entropy), endpoint, (Mode::Live, Speed::Prompt));
    let mut guards: Vec<InFlight> = (0..UNWRITTEN_MAX + 2).map(insert).collect();
    guards.iter().for_each(InFlight::received);
    assert_eq!(in_flight.by_endpoint(), [(endpoint, 2)], "the last two keep their slots");
    guards.remove(0);
    guards.iter().for_each(InFlight::received);
    assert_eq!((in_flight.by_endpoint(), in_flight.len()), (vec![(endpoint, 1)], UNWRITTEN_MAX + 1));
}

#[test]
fn a_business_at_its_share_wakes_the_loop_when_it_frees_a_slot() {
    let (clock, entropy, wake) = (Clock::system(), Entropy::seeded(1), Arc::new(Notify::new()));
    let in_flight = InFlightSet::new(wake.clone());
    let endpoint = EndpointId::generate(&clock, &entropy);
    let first = lease(&clock, &entropy);
    let business = first.business;
    let insert = |mode| {
        in_flight.insert(Lease { business, ..lease(&clock, &entropy) }, endpoint, (mode, Speed::Prompt))
    };
    let woken = || wake.notified().now_or_never().is_some();
    let guards = [insert(Mode::Test), insert(Mode::Live)];
    let (held, free, _) = in_flight.count_and_watch(Speed::Prompt, Slots { all: 8, test: 2 });
    assert_eq!((held, free), (vec![(business, Slots { all: 2, test: 1 })], Slots { all: 6, test: 1 }));
    assert!(in_flight.is_full(endpoint, business, (Mode::Test, Speed::Prompt)));
    assert!(!in_flight.is_full(endpoint, business, (Mode::Live, Speed::Prompt)));
    drop(guards);
    assert!(woken());
    assert!(!in_flight.is_full(endpoint, business, (Mode::Test, Speed::Prompt)));
}

#[test]
fn a_business_at_its_share_wakes_the_loop_once_when_others_free_slots() {
    let (clock, entropy, wake) = (Clock::system(), Entropy::seeded(1), Arc::new(Notify::new()));
    let in_flight = InFlightSet::new(wake.clone());
    let endpoint = EndpointId::generate(&clock, &entropy);
    let insert = |business| {
        in_flight.insert(Lease { business, ..lease(&clock, &entropy) }, endpoint, (Mode::Live, Speed::Prompt))
    };
    let [busy, other] = [(); 2].map(|()| BusinessId::generate(&clock, &entropy));
    let woken = || wake.notified().now_or_never().is_some();
    let _held = [(); 20].map(|()| insert(busy));
    let mut others: Vec<InFlight> = (0..4).map(|_| insert(other)).collect();
    in_flight.count_and_watch(Speed::Prompt, Slots { all: 32, test: 16 });
    assert!(
        in_flight.is_full(endpoint, busy, (Mode::Live, Speed::Prompt))
            && !in_flight.is_full(endpoint, other, (Mode::Live, Speed::Prompt))
    );
    let wakes: Vec<bool> = (0..4)
        .map(|_| {
            others.pop();
            woken()
        })
        .collect();
    assert_eq!(wakes, [false, true, false, false]);
}

#[test]
fn a_claim_gives_way_to_new_deliveries_that_came_meanwhile() {
    let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
    let endpoint = EndpointId::generate(&clock, &entropy);
    let (in_flight, slots) = (InFlightSet::new(Arc::default()), Slots { all: 16, test: 8 });
    let [one, other] = [(); 2].map(|()| BusinessId::generate(&clock, &entropy));
    let lease_of = |business| Lease { business, ..lease(&clock, &entropy) };
    let claim = |seen| {
        let wanted: Vec<_> = (0..4).map(|_| (lease_of(one), endpoint, Mode::Test)).collect();
        in_flight.insert_claimed(wanted.into_iter(), Speed::Prompt, (slots, seen))
    };
    let admitted = |guards: &[Option<InFlight>]| guards.iter().flatten().count();
    let (_, _, seen) = in_flight.count_and_watch(Speed::Prompt, slots);
    let undisturbed = claim(seen);
    assert_eq!(admitted(&undisturbed), 4, "its own arithmetic holds");
    drop(undisturbed);

    let new: Vec<_> = (0..4)
        .map(|_| in_flight.try_insert((8, slots), lease_of(other), endpoint, (Mode::Test, Speed::Prompt)))
        .collect();
    assert!(new.iter().all(Option::is_some));
    assert_eq!(admitted(&claim(seen)), 2, "half of what is left");
}
