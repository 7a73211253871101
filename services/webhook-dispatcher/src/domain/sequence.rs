//! The order of one order's events (`design.md` §4).

/// An order has at most this many events waiting for a missing one. A delivery has some ten events; more than this is
/// a fault that people must see.
pub(crate) const PARKED_MAX: i64 = 200;

/// What to do with an event that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It was handed on before.
    Old,
    /// It is the next: hand it on, and whatever is parked behind it.
    Next,
    /// An earlier one is still missing: keep it.
    Early,
}

pub(crate) fn arrival(sequence: i64, next_sequence: i64) -> Arrival {
    match sequence.cmp(&next_sequence) {
        std::cmp::Ordering::Less => Arrival::Old,
        std::cmp::Ordering::Equal => Arrival::Next,
        std::cmp::Ordering::Greater => Arrival::Early,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// What the consumer does with the decisions, without a database.
    fn hand_on(arrivals: &[i64]) -> Vec<i64> {
        let (mut next, mut parked, mut handed_on) = (1, BTreeSet::new(), Vec::new());
        for sequence in arrivals {
            match arrival(*sequence, next) {
                Arrival::Old => {}
                Arrival::Early => {
                    parked.insert(*sequence);
                }
                Arrival::Next => {
                    handed_on.push(*sequence);
                    next += 1;
                    while parked.remove(&next) {
                        handed_on.push(next);
                        next += 1;
                    }
                }
            }
        }
        handed_on
    }

    proptest! {
        #[test]
        fn shuffled_and_repeated_events_leave_once_and_in_order(
            count in 1_i64..20,
            repeats in proptest::collection::vec(0_usize..20, 0..20),
            seed in proptest::collection::vec(any::<u32>(), 40),
        ) {
            let mut arrivals: Vec<i64> = (1..=count).collect();
            arrivals.extend(repeats.iter().map(|at| i64::try_from(*at).unwrap() % count + 1));
            let mut keyed: Vec<_> = arrivals.into_iter().zip(seed).collect();
            keyed.sort_by_key(|(_, key)| *key);
            let shuffled: Vec<i64> = keyed.into_iter().map(|(sequence, _)| sequence).collect();
            prop_assert_eq!(hand_on(&shuffled), (1..=count).collect::<Vec<_>>());
        }
    }
}
