//! Which of the waiting endpoints a claim asks for. Its cost grows with their number, so it asks for a few per free slot,
//! and the others follow in the next one.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::BusinessId;

use super::waiting::Turn;
use crate::domain::Speed;
use crate::store::Asked;

/// More than one, because an endpoint may have nothing due.
const PER_SLOT: usize = 4;
const MIN: usize = 32;
const MAX: usize = 512;

/// What the next claims ask for.
pub(super) struct Pages {
    first: Speed,
    /// How often the size of a page was doubled.
    doubled: HashMap<Speed, u32>,
}

/// An endpoint that has room.
pub(super) struct Candidate {
    pub asked: Asked,
    pub turn: Turn,
    pub business_waits_since: DateTime<Utc>,
}

/// Endpoints of one speed.
pub(in crate::sender) struct Page {
    pub speed: Speed,
    /// A claim that cannot serve all serves the first ones.
    pub asked: Vec<Asked>,
    /// Others wait for the next claim.
    pub is_full: bool,
}

impl Pages {
    pub(super) fn new() -> Self {
        Self { first: Speed::Prompt, doubled: HashMap::new() }
    }

    /// The size of the page of each speed. They come first by turns.
    pub(super) fn next(&mut self, free: impl Fn(Speed) -> usize) -> [(Speed, usize); 2] {
        let mut speeds = [Speed::Prompt, Speed::Uncertain];
        if self.first == Speed::Uncertain {
            speeds.reverse();
        }
        self.first = speeds[1];
        speeds.map(|speed| (speed, self.size(speed, free(speed))))
    }

    fn size(&self, speed: Speed, free: usize) -> usize {
        let size = free.saturating_mul(PER_SLOT).clamp(MIN, MAX);
        let doubled = self.doubled.get(&speed).copied().unwrap_or_default();
        size.saturating_mul(1 << doubled).min(MAX)
    }

    /// If the endpoints of a full page got nothing, they cannot be served: for instance, test mode is full. The next page is
    /// larger, so that they delay the others less.
    pub(super) fn claimed(&mut self, page: &Page, is_any_served: bool) {
        let doubled = self.doubled.entry(page.speed).or_default();
        if is_any_served {
            *doubled = 0;
        } else if page.is_full {
            *doubled = (*doubled + 1).min((MAX / MIN).ilog2());
        }
    }
}

impl Page {
    /// Chooses the businesses that no claim has asked about for the longest time, and of each business the endpoints that
    /// have waited longest. `candidates` are sorted by their wait.
    pub(super) fn of((speed, size): (Speed, usize), candidates: Vec<Candidate>) -> Self {
        let is_full = candidates.len() > size;
        let mut chosen = if is_full { in_rounds(candidates, size) } else { candidates };
        chosen.sort_by_key(|candidate| candidate.turn);
        Self { speed, asked: chosen.into_iter().map(|candidate| candidate.asked).collect(), is_full }
    }
}

/// One endpoint of each business, then the second of each.
fn in_rounds(candidates: Vec<Candidate>, most: usize) -> Vec<Candidate> {
    let mut rounds = HashMap::<BusinessId, usize>::new();
    let with_round = |candidate: Candidate| {
        let round = rounds.entry(candidate.asked.business).or_default();
        *round += 1;
        (*round, candidate)
    };
    let mut all: Vec<_> = candidates.into_iter().map(with_round).collect();
    all.sort_by_key(|(round, candidate)| (*round, candidate.business_waits_since));
    all.truncate(most);
    all.into_iter().map(|(_, candidate)| candidate).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use chrono::TimeDelta;
    use domain::{Clock, EndpointId, Entropy};
    use proptest::prelude::*;

    use super::super::waiting::{DueEndpoint, Key, Waiting};
    use super::*;

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Outcome {
        Served,
        /// And another of its deliveries became due meanwhile.
        ServedAndNoted,
        Skipped,
        Empty,
    }

    struct Fixture {
        waiting: Waiting,
        pages: Pages,
        uncertain: HashSet<EndpointId>,
        clock: Clock,
        entropy: Entropy,
        now: DateTime<Utc>,
    }

    impl Fixture {
        fn new() -> Self {
            let clock = Clock::system();
            let (now, entropy) = (clock.now(), Entropy::seeded(1));
            Self {
                waiting: Waiting::default(),
                pages: Pages::new(),
                uncertain: HashSet::new(),
                clock,
                entropy,
                now,
            }
        }

        fn business(&self) -> BusinessId {
            BusinessId::generate(&self.clock, &self.entropy)
        }

        /// New endpoints of a business, which may have due deliveries from now on.
        fn note(&mut self, business: BusinessId, endpoints: usize) -> Vec<Key> {
            let endpoint = |_| (EndpointId::generate(&self.clock, &self.entropy), business);
            let keys = Vec::from_iter((0..endpoints).map(endpoint));
            self.waiting.note(keys.iter().copied(), self.now, self.now);
            keys
        }

        /// The endpoints that a claim asks for, with the same free slots for each speed.
        fn claim(&mut self, free: usize, outcome: impl Fn(&Key) -> Outcome) -> Vec<Key> {
            self.now += TimeDelta::milliseconds(5);
            self.waiting.retry_skipped(self.now);
            let speed = |endpoint| match self.uncertain.contains(&endpoint) {
                true => Speed::Uncertain,
                false => Speed::Prompt,
            };
            let (due, notes) = self.waiting.snapshot(speed, self.now).into_order();
            let mut candidates = HashMap::<Speed, Vec<Candidate>>::new();
            for DueEndpoint { key: (endpoint, business), speed, turn, business_waits_since } in due {
                let asked = Asked { endpoint, business, room: 1, in_flight: 0, due_since: None };
                let candidate = Candidate { asked, turn, business_waits_since };
                candidates.entry(speed).or_default().push(candidate);
            }
            let mut all = Vec::new();
            for page in self.pages.next(|_| free) {
                let page = Page::of(page, candidates.remove(&page.0).unwrap_or_default());
                let asked = Vec::from_iter(page.asked.iter().map(Asked::key));
                let of = |which: &[Outcome]| {
                    asked.iter().copied().filter(|key| which.contains(&outcome(key))).collect::<HashSet<_>>()
                };
                self.waiting.note(of(&[Outcome::ServedAndNoted]), self.now, self.now);
                let (served, skipped) =
                    (of(&[Outcome::Served, Outcome::ServedAndNoted]), of(&[Outcome::Skipped]));
                self.pages.claimed(&page, !served.is_empty());
                let keys = (asked.iter().copied(), notes);
                self.waiting.asked(keys, page.speed, (&served, &skipped), self.now);
                all.extend(asked);
            }
            all
        }
    }

    #[test]
    fn a_claim_asks_for_four_endpoints_per_slot_within_limits() {
        let mut test = Fixture::new();
        let business = test.business();
        test.note(business, 600);
        let mut asked = |free| test.claim(free, |_| Outcome::Served).len();
        assert_eq!((asked(1), asked(12), asked(500)), (32, 48, 512));
    }

    /// Otherwise many that cannot be served, such as those of test mode, would delay the others.
    #[test]
    fn a_page_that_got_nothing_is_followed_by_a_larger_one() {
        let mut test = Fixture::new();
        let business = test.business();
        test.note(business, 600);
        let mut asked = |outcome| test.claim(8, |_| outcome).len();
        let skipped = [(); 6].map(|()| asked(Outcome::Skipped));
        assert_eq!(skipped, [32, 64, 128, 256, 512, 512]);
        assert_eq!((asked(Outcome::Served), asked(Outcome::Served)), (512, 32));
    }

    #[test]
    fn the_businesses_that_wait_share_a_claim() {
        let mut test = Fixture::new();
        let [large, small] = [(); 2].map(|()| test.business());
        let few = test.note(small, 10);
        test.note(large, 200);
        let first = test.claim(8, |_| Outcome::Served);
        assert!(few.iter().all(|key| first.contains(key)), "each business has 16 places");
        let second = test.claim(8, |_| Outcome::ServedAndNoted);
        let of_large =
            |asked: &[Key]| asked.iter().copied().filter(|key| key.1 == large).collect::<HashSet<_>>();
        assert_eq!((of_large(&first).len(), of_large(&second).len()), (22, 22));
        let third = test.claim(8, |_| Outcome::Served);
        let others = |one: &[Key], other: &[Key]| of_large(one).is_disjoint(&of_large(other));
        assert!(others(&first, &second) && others(&second, &third), "its endpoints take turns, too");
    }

    #[test]
    fn a_claim_for_one_speed_is_none_for_the_other() {
        let mut test = Fixture::new();
        for _ in 0..70 {
            let keys = test.note(test.business(), 1);
            test.uncertain.extend(keys.iter().map(|key| key.0));
        }
        let [_prompt, uncertain] = test.note(test.business(), 2).try_into().expect("two");
        test.uncertain.insert(uncertain.0);
        let asked = [(); 4].map(|()| test.claim(8, |_| Outcome::Served));
        assert!(
            asked.iter().flatten().any(|key| *key == uncertain),
            "although the prompt one is on each page"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Neither endpoints that no claim can serve, nor those of other businesses, nor new ones keep an endpoint from
        /// being asked for.
        #[test]
        fn every_endpoint_is_asked_for_in_turn(
            sizes in prop::collection::vec(1..20_usize, 1..60),
            new in 0..6_usize,
            last_outcome in 1..6_usize,
        ) {
            use Outcome::{Served, ServedAndNoted, Skipped};
            let outcomes = &[Skipped, Served, ServedAndNoted, Skipped, ServedAndNoted, Served][..last_outcome];
            let mut test = Fixture::new();
            let mut old: HashMap<Key, (usize, Outcome)> = HashMap::new();
            for size in &sizes {
                let keys = test.note(test.business(), *size);
                test.uncertain.extend(keys.iter().map(|key| key.0).skip(1).step_by(2));
                let keys = keys.into_iter().zip(outcomes.iter().cycle());
                old.extend(keys.map(|(key, outcome)| (key, (*size, *outcome))));
            }
            let mut asked_at: HashMap<Key, usize> = HashMap::new();
            for number in 0..200 {
                for _ in 0..new {
                    test.note(test.business(), 3);
                }
                let asked = test.claim(8, |key| old.get(key).map_or(Outcome::Empty, |(_, outcome)| *outcome));
                asked_at.extend(asked.into_iter().map(|key| (key, number)));
                for (key, (of_business, _)) in &old {
                    let wait = number - asked_at.get(key).copied().unwrap_or_default();
                    let claims_per_turn = sizes.len() / (MIN - 3 * new) + 2;
                    prop_assert!(wait <= of_business * claims_per_turn, "{wait} claims, {of_business} endpoints");
                }
            }
        }
    }
}
