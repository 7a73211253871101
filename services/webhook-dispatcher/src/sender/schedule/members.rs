//! The running instances, and which of them an endpoint prefers (rendezvous hashing: when one leaves, only its endpoints move).
//!
//! Two instances never prefer the same endpoint at the same time. A view of the instances is valid for [`VALID`] from the start of
//! the statement that read it. A new instance counts from [`store::JOIN`] after it joined, when no older view is valid any
//! more; one that is gone stops counting [`store::ALIVE`] after its last sign of life, when its own view is not valid.

use std::collections::HashSet;
use std::time::Duration;

use domain::EndpointId;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::store::Member;

/// Shorter than the times after which others count an instance, or count it no more.
pub(super) const VALID: Duration = Duration::from_secs(3);
/// The digits of an identifier (Crockford's base 32).
const DIGITS: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

#[derive(Debug)]
pub(super) struct Members {
    own: i64,
    /// The instances that were read, and when each begins to count.
    read: Vec<(i64, Instant)>,
    read_at: Option<Instant>,
    /// Those that count. None before the first look.
    counted: Option<Vec<i64>>,
    /// The last two digits of the endpoints that prefer this instance.
    parts: HashSet<[u8; 2]>,
    /// When the present view began: the rate before it may have been another instance's.
    since: Instant,
}

impl Members {
    pub(super) fn new(own: i64, now: Instant) -> Self {
        Self { own, read: Vec::new(), read_at: None, counted: None, parts: HashSet::new(), since: now }
    }

    /// The instances that a statement has read which began at that time. True if the view changes.
    pub(super) fn update(&mut self, members: &[Member], began: Instant, now: Instant) -> bool {
        let was_valid = self.is_valid(now);
        // The database's time was between these. So others count early, and this instance late.
        let of = |id| if id == self.own { now } else { began };
        self.read = members.iter().map(|member| (member.id, of(member.id) + member.counts_in)).collect();
        self.read_at = Some(began);
        let changes = self.count(now);
        if !was_valid {
            self.since = now;
        }
        changes || !was_valid
    }

    /// Counts the instances whose time has come. True if the view changes.
    pub(super) fn count(&mut self, now: Instant) -> bool {
        let mut counted: Vec<i64> =
            self.read.iter().filter(|(_, from)| *from <= now).map(|(id, _)| *id).collect();
        counted.sort_unstable();
        if self.counted.as_ref() == Some(&counted) {
            return false;
        }
        let all = DIGITS.iter().flat_map(|first| DIGITS.iter().map(|second| [*first, *second]));
        self.parts = all.filter(|part| preferred(*part, &counted) == Some(self.own)).collect();
        (self.counted, self.since) = (Some(counted), now);
        true
    }

    pub(super) fn is_valid(&self, now: Instant) -> bool {
        self.read_at.is_some_and(|at| now.saturating_duration_since(at) < VALID)
    }

    /// Whether the endpoint prefers this instance while the view is valid.
    pub(super) fn are_preferred_by(&self, endpoint: EndpointId) -> bool {
        self.parts.contains(&part_of(endpoint))
    }

    /// The last two digits of the endpoints that prefer this instance, for a query. None if all do.
    pub(super) fn parts(&self) -> Option<String> {
        let is_alone = self.parts.len() == DIGITS.len() * DIGITS.len();
        let text = |part: &[u8; 2]| format!(",{}{}", char::from(part[0]), char::from(part[1]));
        (!is_alone).then(|| self.parts.iter().map(text).collect())
    }

    /// Whether this instance does what one of all must do.
    pub(super) fn is_first(&self, now: Instant) -> bool {
        self.is_valid(now) && self.counted.as_ref().and_then(|ids| ids.first()) == Some(&self.own)
    }

    pub(super) fn since(&self) -> Instant {
        self.since
    }

    /// This instance's part of a rate that all share. One half is for new webhooks, which leave where they arrive; the other
    /// half is for what waits, and is the preferred instance's.
    pub(super) fn part_of_rate(&self, rate: f64, is_preferred: bool) -> f64 {
        let instances = u32::try_from(self.read.len().max(1)).unwrap_or(u32::MAX);
        let of_new = rate / 2.0 / f64::from(instances);
        if is_preferred { rate / 2.0 + of_new } else { of_new }
    }
}

fn part_of(endpoint: EndpointId) -> [u8; 2] {
    let id = endpoint.to_string();
    id.as_bytes().last_chunk::<2>().copied().unwrap_or_default()
}

/// The instance with the highest hash.
fn preferred(part: [u8; 2], instances: &[i64]) -> Option<i64> {
    let hash = |id: &i64| Sha256::new().chain_update(part).chain_update(id.to_be_bytes()).finalize();
    instances.iter().copied().max_by_key(|id| (hash(id), *id))
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};
    use proptest::prelude::*;

    use super::*;

    fn member(id: i64, counts_in: u64) -> Member {
        Member { id, counts_in: Duration::from_millis(counts_in) }
    }

    #[test]
    fn each_endpoint_prefers_one_of_the_instances_and_few_move() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let now = Instant::now();
        let views = |ids: &[i64]| {
            let all = Vec::from_iter(ids.iter().map(|id| member(*id, 0)));
            Vec::from_iter(ids.iter().map(|id| {
                let mut members = Members::new(*id, now);
                members.update(&all, now, now);
                members
            }))
        };
        let (three, two) = (views(&[7, -3, 12]), views(&[7, -3]));
        let mut of_each = [0; 3];
        for _ in 0..1_000 {
            let endpoint = EndpointId::generate(&clock, &entropy);
            let of_three = three.iter().map(|view| view.are_preferred_by(endpoint));
            let of_three = Vec::from_iter(of_three);
            assert_eq!(of_three.iter().filter(|is_preferred| **is_preferred).count(), 1);
            of_each[of_three.iter().position(|is_preferred| *is_preferred).unwrap()] += 1;
            for (before, after) in of_three.iter().zip(&two) {
                assert!(!before || after.are_preferred_by(endpoint), "only those of the third move");
            }
        }
        assert!(of_each.iter().all(|count| *count > 200), "{of_each:?}");
        assert!(three.iter().filter(|view| view.is_first(now)).count() == 1);
        assert_eq!(three.iter().map(|view| view.parts().unwrap().len()).sum::<usize>(), 3 * 1_024);
    }

    #[test]
    fn an_instance_that_reads_nothing_new_has_no_endpoints_after_a_while() {
        let now = Instant::now();
        let mut members = Members::new(1, now);
        assert!(!members.is_valid(now) && members.update(&[member(1, 0)], now, now));
        assert_eq!(
            (members.is_valid(now), members.is_valid(now + VALID), members.parts()),
            (true, false, None)
        );
        assert!(!members.update(&[member(1, 0)], now, now), "nothing changes");
        assert!(
            members.update(&[member(1, 0)], now + VALID, now + VALID),
            "the rate may have been another's"
        );
    }

    /// Times by the database's clock, in milliseconds.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// An instance reads the table: the times until the statement takes effect, and until its answer arrives.
        Read(usize, u64, u64),
        Wait(u64),
    }

    proptest! {
        /// However late and rarely instances read the table, an endpoint prefers at most one of them.
        #[test]
        fn two_instances_never_prefer_the_same_endpoint(steps in prop::collection::vec(prop_oneof![
            2 => (0..3_usize, 0..2_000_u64, 0..2_000_u64).prop_map(|(id, before, after)| Step::Read(id, before, after)),
            1 => (1..6_000_u64).prop_map(Step::Wait),
        ], 1..60)) {
            const ALIVE: u64 = 4_000;
            const JOIN: u64 = 5_000;
            let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
            let endpoints = [(); 3].map(|()| EndpointId::generate(&clock, &entropy));
            let start = Instant::now();
            let at = |milliseconds| start + Duration::from_millis(milliseconds);
            let mut views = [0, 1, 2].map(|id| Members::new(id, start));
            // When each joined, and until when it is alive.
            let mut table: [Option<(u64, u64)>; 3] = [None; 3];
            let mut now = 0;
            for step in steps {
                match step {
                    Step::Wait(time) => now += time,
                    Step::Read(instance, before, after) => {
                        let began = now;
                        now += before;
                        let others = table.iter().flatten().any(|(_, until)| *until > now);
                        let joined = table[instance].filter(|(_, until)| *until > now).map(|(joined, _)| joined);
                        let joined = joined.unwrap_or(if others { now + JOIN } else { now });
                        table[instance] = Some((joined, now + ALIVE));
                        let alive = (0..).zip(&table).filter_map(|(id, row)| {
                            let (joined, until) = (*row)?;
                            (until > now).then(|| member(id, joined.saturating_sub(now)))
                        });
                        let alive = Vec::from_iter(alive);
                        now += after;
                        views[instance].update(&alive, at(began), at(now));
                    }
                }
                for view in &mut views {
                    view.count(at(now));
                }
                for endpoint in endpoints {
                    let preferred =
                        views.iter().filter(|view| view.is_valid(at(now)) && view.are_preferred_by(endpoint));
                    prop_assert!(preferred.count() <= 1);
                }
            }
        }
    }
}
