//! The endpoints that may have due deliveries. A claim asks only for these, so that its cost does not depend on the
//! number of endpoints. Whatever makes a delivery due notes its endpoint here; the scan finds the others, for instance
//! those of a killed process and of endpoints that were paused.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, EndpointId};

pub(crate) type Key = (EndpointId, BusinessId);

/// The scan finds deliveries that become due later than this.
const SOON: TimeDelta = TimeDelta::seconds(5);
/// An endpoint that a claim has skipped although it has due deliveries, because no slot was free for them or another
/// process was claiming them, is asked for again after this time, or when a slot becomes free.
const SKIPPED: TimeDelta = TimeDelta::milliseconds(100);
/// A blocked endpoint comes after the others for this long. What blocks it, such as its business's other deliveries, may end
/// any time.
const BLOCKED: TimeDelta = TimeDelta::seconds(1);

#[derive(Default)]
pub(super) struct Waiting {
    endpoints: HashMap<Key, Entry>,
    /// Counts the notes.
    notes: u64,
}

#[derive(Clone, Copy)]
struct Entry {
    look_at: DateTime<Utc>,
    served_at: Option<DateTime<Utc>>,
    /// When a claim last skipped it and its business although there were places left. Otherwise endpoints that may not have
    /// a slot would be all that claims ask for.
    blocked_at: Option<DateTime<Utc>>,
    /// The number of the latest note.
    note: u64,
}

/// A claim's view of the set.
pub(super) struct Snapshot {
    due: Vec<(Turn, DateTime<Utc>, u64, Key)>,
    notes: u64,
}

/// When the endpoint was blocked, when its business was last served, and when it was itself. The lowest comes first.
type Turn = (Option<DateTime<Utc>>, Option<DateTime<Utc>>, Option<DateTime<Utc>>);

/// What a claim did with the endpoints that it asked for.
pub(in crate::sender) struct Answered {
    /// These got slots.
    pub served: HashSet<Key>,
    /// These still have due deliveries.
    pub skipped: HashSet<Key>,
    /// Whether every place was taken.
    pub is_full: bool,
}

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
            let entry = self.endpoints.entry(key).or_insert(Entry {
                look_at: at,
                served_at: None,
                blocked_at: None,
                note,
            });
            *entry = Entry { look_at: entry.look_at.min(at), note, ..*entry };
        }
        true
    }

    pub(super) fn snapshot(&self, now: DateTime<Utc>) -> Snapshot {
        let mut businesses = HashMap::<BusinessId, Option<DateTime<Utc>>>::new();
        for ((_, business), entry) in &self.endpoints {
            let served_at = businesses.entry(*business).or_default();
            *served_at = entry.served_at.max(*served_at);
        }
        let due = self.endpoints.iter().filter(|(_, entry)| entry.look_at <= now);
        let blocked_at = |entry: &Entry| entry.blocked_at.filter(|at| now - *at < BLOCKED);
        let turn = |key: &Key, entry: &Entry| (blocked_at(entry), businesses[&key.1], entry.served_at);
        let due = due.map(|(key, entry)| (turn(key, entry), entry.look_at, entry.note, *key));
        Snapshot { due: due.collect(), notes: self.notes }
    }

    /// When the next endpoint that is not due becomes so.
    pub(super) fn next_after(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.endpoints.values().map(|entry| entry.look_at).filter(|at| *at > now).min()
    }

    /// A claim has asked for these endpoints. Those that were neither served nor skipped are removed, unless they were
    /// noted since the snapshot.
    pub(super) fn asked(
        &mut self,
        (asked, notes): (impl Iterator<Item = Key>, u64),
        Answered { served, skipped, is_full }: &Answered,
        now: DateTime<Utc>,
    ) {
        let businesses: HashSet<BusinessId> = served.iter().map(|(_, business)| *business).collect();
        for key in asked {
            let Some(entry) = self.endpoints.get_mut(&key) else { continue };
            let is_served = served.contains(&key);
            if is_served {
                (entry.served_at, entry.blocked_at) = (Some(now), None);
            } else if !is_full && skipped.contains(&key) && !businesses.contains(&key.1) {
                entry.blocked_at = Some(now);
            }
            if entry.note > notes {
                continue;
            }
            if is_served {
                entry.look_at = now;
            } else if skipped.contains(&key) {
                entry.look_at = now + SKIPPED;
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
        for entry in self.endpoints.values_mut() {
            if entry.look_at <= now + SKIPPED {
                entry.look_at = entry.look_at.min(now);
            }
        }
    }
}

impl Snapshot {
    /// The order to ask in, and the number of notes. Businesses take turns, and so do the endpoints of each; blocked ones
    /// come last.
    pub(super) fn into_order(mut self) -> (Vec<Key>, u64) {
        self.due.sort_unstable();
        let mut earlier = HashMap::<BusinessId, usize>::new();
        let mut in_rounds = |((blocked_at, ..), .., key): (Turn, DateTime<Utc>, u64, Key)| {
            let round = earlier.entry(key.1).or_default();
            *round += 1;
            ((blocked_at.is_some(), *round), key)
        };
        let mut order: Vec<_> = self.due.into_iter().map(&mut in_rounds).collect();
        order.sort_by_key(|(round, _)| *round);
        (order.into_iter().map(|(_, key)| key).collect(), self.notes)
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

        fn at(&self, milliseconds: i64) -> DateTime<Utc> {
            self.now + TimeDelta::milliseconds(milliseconds)
        }

        fn snapshot(&self, milliseconds: i64) -> (Vec<Key>, u64) {
            self.waiting.snapshot(self.at(milliseconds)).into_order()
        }

        fn due(&self, milliseconds: i64) -> Vec<Key> {
            self.snapshot(milliseconds).0
        }

        /// A claim at that time serves and skips these, of all that are due.
        fn claim(&mut self, (served, skipped): (&[Key], &[Key]), is_full: bool, milliseconds: i64) {
            let (asked, notes) = self.snapshot(milliseconds);
            let [served, skipped] = [served, skipped].map(|keys| keys.iter().copied().collect());
            let answered = Answered { served, skipped, is_full };
            self.waiting.asked((asked.into_iter(), notes), &answered, self.at(milliseconds));
        }
    }

    #[test]
    fn endpoints_are_due_at_their_times_and_the_longest_wait_comes_first() {
        let mut test = Fixture::new();
        let [one, other, third] = test.keys;
        test.waiting.note([one], test.at(10), test.now);
        test.waiting.note([other], test.at(0), test.now);
        assert!(!test.waiting.note([third], test.at(6_000), test.now));
        assert_eq!((test.due(0), test.due(10)), (vec![other], vec![other, one]));
        assert_eq!(test.due(6_000).len(), 2, "the scan finds the third");
        assert_eq!(test.waiting.next_after(test.now), Some(test.at(10)));
        test.waiting.note([one], test.at(5), test.now);
        assert_eq!(test.waiting.next_after(test.now), Some(test.at(5)), "the earlier time counts");
    }

    /// Otherwise endpoints with older deliveries, or businesses with many endpoints, would take every claim.
    #[test]
    fn it_is_the_turn_of_the_business_and_the_endpoint_that_were_served_last() {
        let mut test = Fixture::new();
        let [one, other, skipped] = test.keys;
        let same_business = (skipped.0, one.1);
        let all = [one, other, skipped, same_business];
        test.waiting.note(all, test.at(0), test.now);
        test.claim((&[one], &[other, skipped, same_business]), true, 0);
        test.claim((&[other], &[one, skipped, same_business]), true, 100);
        test.waiting.retry_skipped(test.at(101));
        assert_eq!(test.due(101), [skipped, same_business, other, one]);
        test.claim((&[same_business], &[one, other, skipped]), true, 101);
        assert_eq!(
            test.due(201),
            [skipped, other, one, same_business],
            "the business of the last two was served"
        );
    }

    /// Otherwise one business with many endpoints would be all that a claim asks for.
    #[test]
    fn businesses_take_turns_and_so_do_the_endpoints_of_each() {
        let mut test = Fixture::new();
        let [one, other, third] = test.keys;
        let [second_of_one, third_of_one] = [other.0, third.0].map(|endpoint| (endpoint, one.1));
        for (key, at) in [(one, 0), (second_of_one, 1), (third_of_one, 2), (other, 3), (third, 4)] {
            test.waiting.note([key], test.at(at), test.now);
        }
        assert_eq!(test.due(4), [one, other, third, second_of_one, third_of_one]);
    }

    /// Otherwise endpoints whose business may not have another slot would be all that claims ask for.
    #[test]
    fn endpoints_of_businesses_that_a_claim_with_places_left_skipped_come_last_for_a_second() {
        let mut test = Fixture::new();
        let [blocked, served, other] = test.keys;
        let served_too = (blocked.0, served.1);
        test.waiting.note([blocked, served, other, served_too], test.at(0), test.now);
        test.claim((&[served], &[blocked, other, served_too]), true, 0);
        assert_eq!(test.due(100)[..2], [blocked, other], "no place was left for them");
        test.claim((&[served, other], &[blocked, served_too]), false, 100);
        assert_eq!(
            test.due(200),
            [served_too, other, served, blocked],
            "the business of the first was served"
        );
        test.waiting.note([blocked], test.at(200), test.at(200));
        assert_eq!(test.due(200)[3], blocked, "new deliveries do not change that");
        assert_eq!(test.due(1_099)[3], blocked);
        assert_eq!(test.due(1_100)[0], blocked, "its business was served last of all long ago");
        test.claim((&[blocked], &[]), false, 200);
        assert_eq!(test.waiting.endpoints[&blocked].blocked_at, None);
    }

    #[test]
    fn a_claim_removes_endpoints_that_have_nothing_due() {
        let mut test = Fixture::new();
        let [served, skipped, empty] = test.keys;
        test.waiting.note(test.keys, test.now, test.now);
        let notes = test.snapshot(0).1;
        test.claim((&[served], &[skipped]), true, 0);
        assert_eq!((test.due(0), test.due(99)), (vec![served], vec![served]));
        assert_eq!(HashSet::from_iter(test.due(100)), HashSet::from([served, skipped]));
        test.waiting.retry_skipped(test.now);
        assert_eq!(test.due(0).len(), 2);
        test.waiting.note([empty], test.now, test.now);
        let nothing = Answered { served: HashSet::new(), skipped: HashSet::new(), is_full: false };
        test.waiting.asked(([empty].into_iter(), notes), &nothing, test.now);
        assert_eq!(test.due(0).len(), 3, "it was noted after the snapshot");
        assert_eq!(test.waiting.noted_since(notes), HashSet::from([empty.0]));
    }
}
