//! The order of one order's events (`design.md` §4): what comes of those that arrive together.

use std::collections::{BTreeMap, BTreeSet};

/// An order has at most this many events waiting for a missing one. A delivery has some ten events; more than this is
/// a fault that people must see.
pub(crate) const PARKED_MAX: usize = 200;

/// What to do with events of one order; they are told apart by their index among those that arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// To be handed on, in their sequence.
    pub hand_on: Vec<Source>,
    /// The sequence that is due afterwards.
    pub next_sequence: i64,
    /// An earlier one is still missing: to be kept.
    pub park: Vec<usize>,
    /// So is it for these, and there is no room.
    pub too_many: Vec<usize>,
    /// They were handed on before.
    pub old: Vec<usize>,
    /// Another event holds their place.
    pub contested: Vec<usize>,
}

/// Where an event is that is handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Arrived(usize),
    /// It was parked at this sequence.
    Parked(i64),
}

/// Hands on what follows without a gap, whether it arrived or was parked, and keeps the rest. `arrived` are sequences, in
/// any order and repeated as it may be.
pub(crate) fn plan(next_sequence: i64, parked: &BTreeSet<i64>, arrived: &[i64]) -> Plan {
    let mut plan = Plan { next_sequence, ..Plan::default() };
    let mut places = BTreeMap::new();
    for (index, sequence) in arrived.iter().enumerate() {
        if *sequence < next_sequence {
            plan.old.push(index);
        } else if parked.contains(sequence) || places.contains_key(sequence) {
            plan.contested.push(index);
        } else {
            places.insert(*sequence, index);
        }
    }
    loop {
        let due = plan.next_sequence;
        match places.remove(&due) {
            Some(index) => plan.hand_on.push(Source::Arrived(index)),
            None if parked.contains(&due) => plan.hand_on.push(Source::Parked(due)),
            None => break,
        }
        plan.next_sequence += 1;
    }
    let room = PARKED_MAX.saturating_sub(parked.range(plan.next_sequence..).count());
    plan.park = places.into_values().collect();
    plan.too_many = plan.park.split_off(room.min(plan.park.len()));
    plan
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a stream keeps between batches.
    struct Stream {
        next: i64,
        parked: BTreeSet<i64>,
    }

    impl Stream {
        fn new() -> Self {
            Self { next: 1, parked: BTreeSet::new() }
        }

        /// What the consumer does with a plan, without a database; gives what is handed on.
        fn take(&mut self, arrived: &[i64]) -> Vec<i64> {
            let plan = plan(self.next, &self.parked, arrived);
            let mut seen: Vec<usize> = [&plan.park, &plan.too_many, &plan.old, &plan.contested]
                .into_iter()
                .flatten()
                .copied()
                .chain(plan.hand_on.iter().filter_map(|source| match source {
                    Source::Arrived(index) => Some(*index),
                    Source::Parked(_) => None,
                }))
                .collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..arrived.len()).collect::<Vec<_>>(), "each has one fate");
            let handed_on = plan
                .hand_on
                .iter()
                .map(|source| match source {
                    Source::Arrived(index) => arrived[*index],
                    Source::Parked(sequence) => {
                        assert!(self.parked.remove(sequence), "only what is parked is taken");
                        *sequence
                    }
                })
                .collect();
            for index in plan.park {
                assert!(self.parked.insert(arrived[index]), "a place is free");
            }
            assert!(self.parked.len() <= PARKED_MAX);
            self.next = plan.next_sequence;
            handed_on
        }
    }

    #[test]
    fn each_has_its_fate() {
        let parked = BTreeSet::from([4, 7]);
        let made = plan(2, &parked, &[9, 3, 2, 1, 3, 7]);
        assert_eq!(made.hand_on, [Source::Arrived(2), Source::Arrived(1), Source::Parked(4)]);
        assert_eq!((made.next_sequence, made.park, made.too_many), (5, vec![0], vec![]));
        assert_eq!((made.old, made.contested), (vec![3], vec![4, 5]));
    }

    #[test]
    fn only_so_many_wait_and_the_earliest_of_them() {
        let most = i64::try_from(PARKED_MAX).unwrap();
        let parked: BTreeSet<i64> = (3..most + 1).collect();
        let made = plan(1, &parked, &[1_000, 900, 800]);
        assert_eq!((made.park, made.too_many), (vec![2, 1], vec![0]));
        // What is handed on makes room.
        let made = plan(1, &parked, &[1_000, 900, 800, 1, 2]);
        assert_eq!((made.park, made.too_many), (vec![2, 1, 0], vec![]));
    }

    proptest! {
        #[test]
        fn shuffled_repeated_and_delayed_events_of_many_orders_leave_once_and_in_order(
            counts in proptest::collection::vec(1_i64..15, 1..6),
            repeats in proptest::collection::vec((0_usize..6, 0_i64..15), 0..30),
            seed in proptest::collection::vec(any::<u32>(), 120),
            cuts in proptest::collection::vec(1_usize..12, 120),
        ) {
            let mut arrivals: Vec<(usize, i64)> =
                (0..).zip(&counts).flat_map(|(order, count)| (1..=*count).map(move |at| (order, at))).collect();
            for (order, at) in repeats {
                let order = order % counts.len();
                arrivals.push((order, at % counts[order] + 1));
            }
            let mut keyed: Vec<_> = arrivals.into_iter().zip(seed).collect();
            keyed.sort_by_key(|(_, key)| *key);
            let mut shuffled: Vec<_> = keyed.into_iter().map(|(arrival, _)| arrival).collect();
            let mut streams: Vec<_> = counts.iter().map(|_| (Stream::new(), Vec::new())).collect();
            for size in cuts {
                let batch: Vec<_> = shuffled.drain(..size.min(shuffled.len())).collect();
                for (order, (stream, handed_on)) in streams.iter_mut().enumerate() {
                    let of_order: Vec<_> =
                        batch.iter().filter(|(of, _)| *of == order).map(|(_, at)| *at).collect();
                    handed_on.extend(stream.take(&of_order));
                }
            }
            prop_assert!(shuffled.is_empty());
            for ((stream, handed_on), count) in streams.into_iter().zip(counts) {
                prop_assert_eq!(handed_on, (1..=count).collect::<Vec<_>>());
                prop_assert!(stream.parked.is_empty());
            }
        }
    }
}
