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

impl Page {
    /// Businesses take turns to be asked for, and so do their endpoints. Whoever was asked for goes to the end, served or
    /// not, so nobody is passed over for ever. `candidates` are in the order of their wait.
    pub(super) fn of(speed: Speed, candidates: Vec<Candidate>, free: usize) -> Self {
        let most = free.saturating_mul(PER_SLOT).clamp(MIN, MAX);
        let is_full = candidates.len() > most;
        let mut chosen = if is_full { in_rounds(candidates, most) } else { candidates };
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
        Skipped,
        Empty,
    }

    struct Fixture {
        waiting: Waiting,
        clock: Clock,
        entropy: Entropy,
        now: DateTime<Utc>,
    }

    impl Fixture {
        fn new() -> Self {
            let clock = Clock::system();
            Self { waiting: Waiting::default(), now: clock.now(), clock, entropy: Entropy::seeded(1) }
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

        /// The endpoints that a claim asks for.
        fn claim(&mut self, free: usize, outcome: impl Fn(&Key) -> Outcome) -> Vec<Key> {
            let (due, notes) = self.waiting.snapshot(self.now).into_order();
            let candidate = |DueEndpoint { key: (endpoint, business), turn, business_waits_since }| {
                let asked = Asked { endpoint, business, room: 1, in_flight: 0, due_since: None };
                Candidate { asked, turn, business_waits_since }
            };
            let page = Page::of(Speed::Prompt, due.into_iter().map(candidate).collect(), free);
            let asked = Vec::from_iter(page.asked.iter().map(Asked::key));
            let of = |which| asked.iter().copied().filter(|key| outcome(key) == which).collect();
            let (served, skipped) = (of(Outcome::Served), of(Outcome::Skipped));
            self.waiting.asked((asked.iter().copied(), notes), &served, &skipped, self.now);
            self.now += TimeDelta::milliseconds(5);
            self.waiting.retry_skipped(self.now);
            asked
        }
    }

    #[test]
    fn a_claim_asks_for_four_endpoints_per_slot_within_limits() {
        let mut test = Fixture::new();
        let business = test.business();
        test.note(business, 600);
        let mut asked = |free| test.claim(free, |_| Outcome::Skipped).len();
        assert_eq!((asked(1), asked(12), asked(500)), (32, 48, 512));
    }

    #[test]
    fn the_businesses_that_wait_share_a_claim() {
        let mut test = Fixture::new();
        let [large, small] = [(); 2].map(|()| test.business());
        let few = test.note(small, 10);
        test.note(large, 200);
        let first = test.claim(8, |_| Outcome::Skipped);
        assert!(few.iter().all(|key| first.contains(key)), "each business has 16 places");
        let second = test.claim(8, |_| Outcome::Skipped);
        let of_large =
            |asked: &[Key]| asked.iter().copied().filter(|key| key.1 == large).collect::<HashSet<_>>();
        assert_eq!((of_large(&first).len(), of_large(&second).len()), (22, 22));
        assert!(of_large(&first).is_disjoint(&of_large(&second)), "its endpoints take turns, too");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Neither endpoints that no claim can serve, nor those of other businesses, nor new ones keep an endpoint from
        /// being asked for.
        #[test]
        fn every_endpoint_is_asked_for_in_turn(
            sizes in prop::collection::vec(1..20_usize, 1..60),
            new in 0..8_usize,
            served in 0..4_u8,
        ) {
            let mut test = Fixture::new();
            let businesses: Vec<_> = sizes.iter().map(|_| test.business()).collect();
            let mut old: HashMap<Key, (usize, Outcome)> = HashMap::new();
            for (business, size) in businesses.iter().zip(&sizes) {
                let outcome = |number: u8| if number % 4 < served { Outcome::Served } else { Outcome::Skipped };
                let keys = test.note(*business, *size).into_iter().zip((0..4_u8).cycle());
                old.extend(keys.map(|(key, number)| (key, (*size, outcome(number)))));
            }
            let mut asked_at: HashMap<Key, usize> = HashMap::new();
            for number in 0..150 {
                for _ in 0..new {
                    let business = test.business();
                    test.note(business, 1);
                }
                let asked = test.claim(8, |key| old.get(key).map_or(Outcome::Empty, |(_, outcome)| *outcome));
                asked_at.extend(asked.into_iter().map(|key| (key, number)));
                for (key, (of_business, _)) in &old {
                    let wait = number - asked_at.get(key).copied().unwrap_or_default();
                    let claims_per_turn = (sizes.len() + new) / MIN + 2;
                    prop_assert!(wait <= of_business * claims_per_turn, "{wait} claims, {of_business} endpoints");
                }
            }
        }
    }
}
