//! The endpoints that may have due deliveries. A claim asks only for these, so that its cost does not depend on the
//! number of endpoints. Whatever makes a delivery due notes its endpoint here; the scan finds the others, for instance
//! those of a killed process and of endpoints that were paused.

use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, EndpointId};

use crate::domain::Speed;

pub(crate) type Key = (EndpointId, BusinessId);

/// The scan finds deliveries that become due later than this.
const SOON: TimeDelta = TimeDelta::seconds(5);
/// An endpoint that a claim has skipped although it has due deliveries, because no slot was free for them or another
/// process was claiming them, is asked for again after this time, or when a slot becomes free.
const SKIPPED: TimeDelta = TimeDelta::milliseconds(100);
/// The scan finds what becomes due after these times.
const THEN_MAX: usize = 64;

#[derive(Default)]
pub(super) struct Waiting {
    endpoints: HashMap<Key, Entry>,
    /// When a claim last asked for an endpoint of the business. Before the first claim: when its first delivery became due.
    /// Claims for endpoints of one speed do not ask for the others.
    waits_since: HashMap<(BusinessId, Speed), DateTime<Utc>>,
    /// Counts the notes.
    notes: u64,
}

struct Entry {
    look_at: DateTime<Utc>,
    /// A claim has skipped it: a free slot ends its wait.
    is_skipped: bool,
    /// When its next deliveries become due, which an earlier claim cannot see. At most [`THEN_MAX`].
    then: BTreeSet<DateTime<Utc>>,
    served_at: Option<DateTime<Utc>>,
    /// The number of the latest note.
    note: u64,
}

/// A claim's view of the set.
pub(super) struct Snapshot {
    due: Vec<(DateTime<Utc>, u64, DueEndpoint)>,
    notes: u64,
}

/// An endpoint that may have due deliveries now.
pub(super) struct DueEndpoint {
    pub key: Key,
    pub speed: Speed,
    pub turn: Turn,
    pub business_waits_since: DateTime<Utc>,
}

/// When the business was last served, and the endpoint. The lowest comes first.
pub(super) type Turn = (Option<DateTime<Utc>>, Option<DateTime<Utc>>);

impl Waiting {
    /// These endpoints have deliveries that are due at that time. False if the scan will find them.
    pub(super) fn note(
        &mut self,
        keys: impl IntoIterator<Item = Key>,
        at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> bool {
        if at - now > SOON {
            return false;
        }
        self.notes += 1;
        let note = self.notes;
        for key in keys {
            let new = Entry { look_at: at, is_skipped: false, then: BTreeSet::new(), served_at: None, note };
            let entry = self.endpoints.entry(key).or_insert(new);
            (entry.look_at, entry.note) = (entry.look_at.min(at), note);
            if at > now {
                entry.then.retain(|at| *at > now);
                entry.then.insert(at);
                if entry.then.len() > THEN_MAX {
                    entry.then.pop_last();
                }
            }
        }
        true
    }

    pub(super) fn snapshot(&mut self, speed: impl Fn(EndpointId) -> Speed, now: DateTime<Utc>) -> Snapshot {
        let (mut served_at, mut first_due) = (HashMap::<_, Option<_>>::new(), HashMap::new());
        for ((endpoint, business), entry) in &self.endpoints {
            let served_at = served_at.entry(*business).or_default();
            *served_at = entry.served_at.max(*served_at);
            if entry.look_at <= now {
                let first = first_due.entry((*business, speed(*endpoint))).or_insert(entry.look_at);
                *first = entry.look_at.min(*first);
            }
        }
        self.waits_since.retain(|waiting, _| first_due.contains_key(waiting));
        for (waiting, first) in first_due {
            self.waits_since.entry(waiting).or_insert(first);
        }
        let due = self.endpoints.iter().filter(|(_, entry)| entry.look_at <= now).map(|(key, entry)| {
            let (speed, turn) = (speed(key.0), (served_at[&key.1], entry.served_at));
            let business_waits_since = self.waits_since[&(key.1, speed)];
            (entry.look_at, entry.note, DueEndpoint { key: *key, speed, turn, business_waits_since })
        });
        Snapshot { due: due.collect(), notes: self.notes }
    }

    /// When the next endpoint that is not due becomes so.
    pub(super) fn next_after(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.endpoints.values().map(|entry| entry.look_at).filter(|at| *at > now).min()
    }

    /// A claim has asked for these endpoints, which now are the last in their order. `served` got slots, `skipped` still
    /// have due deliveries. The others are removed, unless they were noted since the snapshot.
    pub(super) fn asked(
        &mut self,
        (asked, notes): (impl Iterator<Item = Key>, u64),
        speed: Speed,
        (served, skipped): (&HashSet<Key>, &HashSet<Key>),
        now: DateTime<Utc>,
    ) {
        for key in asked {
            if let Some(since) = self.waits_since.get_mut(&(key.1, speed)) {
                *since = now;
            }
            let Some(entry) = self.endpoints.get_mut(&key) else { continue };
            let is_served = served.contains(&key);
            if is_served {
                entry.served_at = Some(now);
            }
            entry.is_skipped = skipped.contains(&key);
            entry.then.retain(|at| *at > now);
            let then = entry.then.first().copied();
            if is_served || entry.note > notes {
                entry.look_at = now;
            } else if entry.is_skipped {
                entry.look_at = now + SKIPPED;
            } else if let Some(at) = then {
                entry.look_at = at;
            } else {
                self.endpoints.remove(&key);
            }
        }
    }

    /// The endpoints that were noted since the snapshot with this number of notes.
    pub(super) fn noted_since(&self, notes: u64) -> HashSet<EndpointId> {
        let newer = self.endpoints.iter().filter(|(_, entry)| entry.note > notes);
        newer.map(|((endpoint, _), _)| *endpoint).collect()
    }

    /// A slot is free: skipped endpoints may get it.
    pub(super) fn retry_skipped(&mut self, now: DateTime<Utc>) {
        for entry in self.endpoints.values_mut().filter(|entry| entry.is_skipped) {
            entry.look_at = entry.look_at.min(now);
        }
    }
}

impl Snapshot {
    /// The endpoints, those that wait longest first, and the number of notes.
    pub(super) fn into_order(mut self) -> (Vec<DueEndpoint>, u64) {
        self.due.sort_unstable_by_key(|(look_at, note, due)| (*look_at, *note, due.key));
        (self.due.into_iter().map(|(.., due)| due).collect(), self.notes)
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    struct Fixture {
        waiting: Waiting,
        keys: [Key; 3],
        now: DateTime<Utc>,
    }

    impl Fixture {
        fn new() -> Self {
            let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
            let key = |()| (EndpointId::generate(&clock, &entropy), BusinessId::generate(&clock, &entropy));
            Self { waiting: Waiting::default(), keys: [(); 3].map(key), now: clock.now() }
        }

        fn snapshot(&mut self, milliseconds: i64) -> (Vec<DueEndpoint>, u64) {
            let now = self.now + TimeDelta::milliseconds(milliseconds);
            self.waiting.snapshot(|_| Speed::Prompt, now).into_order()
        }

        fn due(&mut self, milliseconds: i64) -> Vec<Key> {
            self.snapshot(milliseconds).0.into_iter().map(|due| due.key).collect()
        }
    }

    #[test]
    fn endpoints_are_due_at_their_times_and_the_longest_wait_comes_first() {
        let mut test = Fixture::new();
        let [one, other, third] = test.keys;
        let now = test.now;
        let at = |milliseconds| now + TimeDelta::milliseconds(milliseconds);
        test.waiting.note([one], at(10), test.now);
        test.waiting.note([other], at(0), test.now);
        assert!(!test.waiting.note([third], at(6_000), test.now));
        assert_eq!((test.due(0), test.due(10)), (vec![other], vec![other, one]));
        assert_eq!(test.due(6_000).len(), 2, "the scan finds the third");
        assert_eq!(test.waiting.next_after(test.now), Some(at(10)));
        test.waiting.note([one], at(5), test.now);
        assert_eq!(test.waiting.next_after(test.now), Some(at(5)), "the earlier time counts");
    }

    /// Otherwise endpoints with older deliveries, or businesses with many endpoints, would take every claim.
    #[test]
    fn it_is_the_turn_of_the_business_and_the_endpoint_that_were_served_last() {
        let mut test = Fixture::new();
        let [one, other, skipped] = test.keys;
        let same_business = (skipped.0, one.1);
        let now = test.now;
        let at = |milliseconds| now + TimeDelta::milliseconds(milliseconds);
        test.waiting.note([one, other, skipped, same_business], at(0), test.now);
        let (_, notes) = test.snapshot(0);
        test.waiting.note([one], at(1), test.now);
        let (served, left) = (HashSet::from([one, other]), HashSet::from([skipped, same_business]));
        let asked = served.union(&left).copied();
        test.waiting.asked((asked, notes), Speed::Prompt, (&served, &left), at(2));
        test.waiting.retry_skipped(at(3));
        let turns: HashMap<Key, Turn> =
            test.snapshot(3).0.into_iter().map(|due| (due.key, due.turn)).collect();
        assert_eq!(turns[&skipped], (None, None));
        assert_eq!(turns[&same_business], (Some(at(2)), None), "its business was served");
        assert_eq!((turns[&one], turns[&other]), ((Some(at(2)), Some(at(2))), (Some(at(2)), Some(at(2)))));
    }

    /// Otherwise only the scan would find them.
    #[test]
    fn each_retry_noted_for_later_is_due_at_its_time() {
        let mut test = Fixture::new();
        let (retries, now, none) = (test.keys[0], test.now, HashSet::new());
        let at = |milliseconds| now + TimeDelta::milliseconds(milliseconds);
        test.waiting.note([retries], at(50), now);
        test.waiting.note([retries], at(120), now);
        let claim = |test: &mut Fixture, time, later: Option<i64>| {
            let notes = test.snapshot(time).1;
            if let Some(later) = later {
                test.waiting.note([retries], at(later), at(time));
            }
            test.waiting.asked(([retries].into_iter(), notes), Speed::Prompt, (&none, &none), at(time));
        };
        claim(&mut test, 50, Some(160));
        assert_eq!(test.due(50), [retries], "one was noted during the claim");
        claim(&mut test, 51, None);
        assert_eq!((test.due(119), test.due(120)), (vec![], vec![retries]));
        claim(&mut test, 120, None);
        assert_eq!((test.due(159), test.due(160)), (vec![], vec![retries]));
        claim(&mut test, 160, None);
        assert!(test.due(1_000).is_empty());
    }

    #[test]
    fn the_number_of_times_is_bounded() {
        let mut test = Fixture::new();
        for milliseconds in 1..1_000 {
            let at = test.now + TimeDelta::milliseconds(milliseconds);
            test.waiting.note([test.keys[0]], at, test.now);
        }
        let entry = &test.waiting.endpoints[&test.keys[0]];
        assert_eq!(entry.then.len(), THEN_MAX);
        assert_eq!(entry.then.first(), Some(&(test.now + TimeDelta::milliseconds(1))), "the first are kept");
        let (later, last) = (test.now + TimeDelta::seconds(2), test.now + TimeDelta::seconds(3));
        test.waiting.note([test.keys[0]], last, later);
        let entry = &test.waiting.endpoints[&test.keys[0]];
        assert_eq!(entry.then, BTreeSet::from([last]), "times that have passed take no place");
    }

    /// Otherwise only the scan would find it.
    #[test]
    fn a_retry_noted_for_later_is_due_then_whatever_is_claimed_before() {
        let mut test = Fixture::new();
        let (retry, now, none) = (test.keys[0], test.now, HashSet::new());
        let at = |milliseconds| now + TimeDelta::milliseconds(milliseconds);
        test.waiting.note([retry], at(50), now);
        test.waiting.retry_skipped(at(10));
        assert!(test.due(49).is_empty(), "a free slot does not bring it forward");
        test.waiting.note([retry], at(20), at(20));
        let notes = test.snapshot(20).1;
        test.waiting.asked(([retry].into_iter(), notes), Speed::Prompt, (&none, &none), at(20));
        assert_eq!(
            (test.due(49), test.due(50)),
            (vec![], vec![retry]),
            "a claim of earlier ones found nothing"
        );
        let notes = test.snapshot(50).1;
        test.waiting.asked(([retry].into_iter(), notes), Speed::Prompt, (&none, &none), at(50));
        assert!(test.due(1_000).is_empty());
    }

    #[test]
    fn a_claim_removes_endpoints_that_have_nothing_due() {
        let mut test = Fixture::new();
        let [served, skipped, empty] = test.keys;
        test.waiting.note(test.keys, test.now, test.now);
        let (asked, notes) = (test.due(0), test.snapshot(0).1);
        test.waiting.asked(
            (asked.into_iter(), notes),
            Speed::Prompt,
            (&HashSet::from([served]), &HashSet::from([skipped])),
            test.now,
        );
        assert_eq!((test.due(0), test.due(99)), (vec![served], vec![served]));
        assert_eq!(HashSet::from_iter(test.due(100)), HashSet::from([served, skipped]));
        test.waiting.retry_skipped(test.now);
        assert_eq!(test.due(0).len(), 2);
        test.waiting.note([empty], test.now, test.now);
        let none = HashSet::new();
        test.waiting.asked(([empty].into_iter(), notes), Speed::Prompt, (&none, &none), test.now);
        assert_eq!(test.due(0).len(), 3, "it was noted after the snapshot");
        assert_eq!(test.waiting.noted_since(notes), HashSet::from([empty.0]));
    }
}
