//! Guards, which give back what they keep.

use domain::{Clock, Entropy};
use strum::VariantArray;

use super::super::in_flight::UNWRITTEN_MAX;
use super::super::*;
use super::{OWN, limits};
use crate::store::LEASE;

struct Guards {
    schedule: Schedule,
    clock: Clock,
    entropy: Entropy,
}

impl Guards {
    fn new(concurrency: usize, per_endpoint: i64, per_second: u32) -> Self {
        let schedule = Schedule::new(OWN, Limits { per_second, ..limits(concurrency, per_endpoint) });
        schedule.update_members(&[Member { id: OWN, counts_in: Duration::ZERO }], Instant::now());
        Self { schedule, clock: Clock::system(), entropy: Entropy::seeded(1) }
    }

    fn key(&self) -> Key {
        (EndpointId::generate(&self.clock, &self.entropy), BusinessId::generate(&self.clock, &self.entropy))
    }

    fn lease(&self, business: BusinessId) -> Lease {
        Lease { delivery: WebhookDeliveryId::generate(&self.clock, &self.entropy), business, token: 1 }
    }

    fn insert(&self, (endpoint, business): Key) -> InFlight {
        self.schedule.insert(self.lease(business), endpoint, Mode::Live)
    }

    fn to_endpoint(&self, (endpoint, _): Key) -> i64 {
        self.schedule.lock().endpoints[&endpoint].in_flight()
    }
}

#[test]
fn an_earlier_guard_does_not_end_a_later_claim() {
    let test = Guards::new(64, 8, u32::MAX);
    let key = test.key();
    let first_lease = test.lease(key.1);
    let second_lease = Lease { token: 2, ..first_lease };
    let first = test.schedule.insert(first_lease, key.0, Mode::Live);
    let second = test.schedule.insert(second_lease, key.0, Mode::Live);
    first.attempted(true, 1);
    drop(first);
    let tokens = || test.schedule.due_leases().iter().map(|lease| lease.token).collect::<Vec<_>>();
    assert_eq!((tokens(), test.to_endpoint(key)), (vec![2], 1));
    drop(second);
    assert_eq!((tokens(), test.to_endpoint(key)), (Vec::new(), 0));
    assert!(test.schedule.lock().is_empty());
}

#[test]
fn only_leases_that_are_not_renewed_or_renewed_long_ago_are_due() {
    let test = Guards::new(64, 8, u32::MAX);
    let (endpoint, business) = test.key();
    let lease = test.lease(business);
    let _sending = test.schedule.insert(lease, endpoint, Mode::Live);
    let due = || test.schedule.due_leases().iter().map(|lease| lease.token).collect::<Vec<_>>();
    let now = Instant::now();
    assert_eq!(due(), [lease.token]);
    test.schedule.mark_renewed(&[Lease { token: lease.token + 1, ..lease }], now);
    assert_eq!(due(), [lease.token], "another claim's");
    test.schedule.mark_renewed(&[lease], now);
    assert!(due().is_empty());
    test.schedule.mark_renewed(&[lease], now - LEASE / 2);
    assert_eq!(due(), [lease.token]);
}

#[test]
fn unwritten_deliveries_are_bounded() {
    let test = Guards::new(512, 8, u32::MAX);
    let key = test.key();
    let receive = |guards: &[InFlight]| guards.iter().for_each(|guard| guard.attempted(true, 1));
    let mut guards: Vec<InFlight> = (0..UNWRITTEN_MAX + 2).map(|_| test.insert(key)).collect();
    receive(&guards);
    assert_eq!(test.to_endpoint(key), 2, "the last two keep their slots");
    guards.remove(0);
    receive(&guards);
    assert_eq!((test.to_endpoint(key), test.schedule.in_flight()), (1, UNWRITTEN_MAX + 1));
}

#[test]
fn eager_deliveries_count_as_unwritten_once_they_are_stored() {
    let test = Guards::new(512, 64, u32::MAX);
    let key = test.key();
    let unwritten: Vec<InFlight> = (0..UNWRITTEN_MAX - 1).map(|_| test.insert(key)).collect();
    unwritten.iter().for_each(|guard| guard.attempted(true, 1));
    let eager = || test.schedule.reserve(test.lease(key.1), key.0, Mode::Live, Origin::Eager).unwrap();
    let [before, after] = [eager(), eager()];
    before.attempted(true, 1);
    assert_eq!(test.to_endpoint(key), 1, "not stored, it has another limit");
    for guard in [&before, &after] {
        test.schedule.stored(guard.lease().delivery, guard.lease().token);
    }
    after.attempted(true, 1);
    assert_eq!(test.to_endpoint(key), 1, "the limit is reached");
    drop((before, after, unwritten));
    assert!(test.schedule.lock().is_empty());
}

#[test]
fn a_webhook_that_is_not_sent_gives_its_token_back() {
    let test = Guards::new(64, 64, 1);
    let key = test.key();
    test.schedule.lock().known(key).bucket.give_back(1);
    let reserve = || test.schedule.reserve(test.lease(key.1), key.0, Mode::Live, Origin::Express);
    let unsent = reserve().expect("a token");
    assert!(reserve().is_none());
    drop(unsent);
    let sent = reserve().expect("its token again");
    sent.spend_token();
    drop(sent);
    assert!(reserve().is_none(), "the second has not passed");
}

#[test]
fn a_late_commit_is_not_sent() {
    let test = Guards::new(64, 8, u32::MAX);
    let mut reserved = test.insert(test.key());
    assert!(reserved.is_recent());
    reserved.since -= LEASE / 2;
    assert!(!reserved.is_recent());
}

#[test]
fn a_test_slot_is_free_when_dropped() {
    let test = Guards::new(8, 8, u32::MAX);
    let (_, business) = test.key();
    let slot = test.schedule.reserve_test(business);
    assert!(slot.is_ok());
    assert_eq!(test.schedule.reserve_test(business).err(), Some(NoTestSlot::Full));
    drop(slot);
    assert!(test.schedule.reserve_test(business).is_ok());
}

#[tokio::test]
async fn a_change_wakes_the_claims() {
    let test = Guards::new(64, 2, u32::MAX);
    let key = test.key();
    for mode in Mode::VARIANTS {
        test.schedule.changed(*mode).await;
    }
    test.schedule.note(key, Mode::Live, Duration::ZERO);
    test.schedule.changed(Mode::Live).await;
    let guards = [test.insert(key), test.insert(key)];
    assert!(test.schedule.choose(Mode::Live).is_err(), "its slots are in use");
    drop(guards);
    test.schedule.changed(Mode::Live).await;
    assert!(test.schedule.choose(Mode::Live).is_ok());
}
