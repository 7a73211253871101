//! Keeps each order's events in sequence (SPECIFICATION §11.2): decides which of the arrived events are released.

use std::collections::{BTreeMap, BTreeSet};

/// Per order. An order has about ten events, so more than this is an error that operators must see.
pub(crate) const HELD_BACK_MAX: usize = 200;

/// What to do with arrived events of one order, which are identified by their indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// In sequence.
    pub release: Vec<Source>,
    /// The next sequence to release.
    pub next_sequence: i64,
    /// Kept until a missing predecessor arrives.
    pub hold_back: Vec<usize>,
    /// As `hold_back`, but too many are held back already.
    pub overflow: Vec<usize>,
    /// Released before.
    pub duplicates: Vec<usize>,
    /// Another event has the same sequence.
    pub conflicting: Vec<usize>,
}

/// Where a released event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Arrived(usize),
    /// Held back with this sequence.
    HeldBack(i64),
}

/// Releases all events that follow without a gap, and holds back the rest. `arrived` are sequences in any order,
/// possibly repeated.
pub(crate) fn plan(next_sequence: i64, held_back: &BTreeSet<i64>, arrived: &[i64]) -> Plan {
    let mut plan = Plan { next_sequence, ..Plan::default() };
    let mut waiting = BTreeMap::new();
    for (index, sequence) in arrived.iter().enumerate() {
        if *sequence < next_sequence {
            plan.duplicates.push(index);
        } else if held_back.contains(sequence) || waiting.contains_key(sequence) {
            plan.conflicting.push(index);
        } else {
            waiting.insert(*sequence, index);
        }
    }
    loop {
        let due = plan.next_sequence;
        match waiting.remove(&due) {
            Some(index) => plan.release.push(Source::Arrived(index)),
            None if held_back.contains(&due) => plan.release.push(Source::HeldBack(due)),
            None => break,
        }
        plan.next_sequence += 1;
    }
    let room = HELD_BACK_MAX.saturating_sub(held_back.range(plan.next_sequence..).count());
    plan.hold_back = waiting.into_values().collect();
    plan.overflow = plan.hold_back.split_off(room.min(plan.hold_back.len()));
    plan
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The state of a stream between batches.
    struct Stream {
        next: i64,
        held_back: BTreeSet<i64>,
    }

    impl Stream {
        fn new() -> Self {
            Self { next: 1, held_back: BTreeSet::new() }
        }

        /// Applies a plan as the consumer does, and returns the released sequences.
        fn take(&mut self, arrived: &[i64]) -> Vec<i64> {
            let plan = plan(self.next, &self.held_back, arrived);
            let mut seen: Vec<usize> = [&plan.hold_back, &plan.overflow, &plan.duplicates, &plan.conflicting]
                .into_iter()
                .flatten()
                .copied()
                .chain(plan.release.iter().filter_map(|source| match source {
                    Source::Arrived(index) => Some(*index),
                    Source::HeldBack(_) => None,
                }))
                .collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..arrived.len()).collect::<Vec<_>>(), "each event has one outcome");
            let released = plan
                .release
                .iter()
                .map(|source| match source {
                    Source::Arrived(index) => arrived[*index],
                    Source::HeldBack(sequence) => {
                        assert!(self.held_back.remove(sequence), "only held-back events are taken");
                        *sequence
                    }
                })
                .collect();
            for index in plan.hold_back {
                assert!(self.held_back.insert(arrived[index]), "the sequence is free");
            }
            assert!(self.held_back.len() <= HELD_BACK_MAX);
            self.next = plan.next_sequence;
            released
        }
    }

    #[test]
    fn each_event_has_its_outcome() {
        let held_back = BTreeSet::from([4, 7]);
        let made = plan(2, &held_back, &[9, 3, 2, 1, 3, 7]);
        assert_eq!(made.release, [Source::Arrived(2), Source::Arrived(1), Source::HeldBack(4)]);
        assert_eq!((made.next_sequence, made.hold_back, made.overflow), (5, vec![0], vec![]));
        assert_eq!((made.duplicates, made.conflicting), (vec![3], vec![4, 5]));
    }

    #[test]
    fn only_the_earliest_events_are_held_back() {
        let most = i64::try_from(HELD_BACK_MAX).unwrap();
        let held_back: BTreeSet<i64> = (3..most + 1).collect();
        let made = plan(1, &held_back, &[1_000, 900, 800]);
        assert_eq!((made.hold_back, made.overflow), (vec![2, 1], vec![0]));
        // Released events make room.
        let made = plan(1, &held_back, &[1_000, 900, 800, 1, 2]);
        assert_eq!((made.hold_back, made.overflow), (vec![2, 1, 0], vec![]));
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
                for (order, (stream, released)) in streams.iter_mut().enumerate() {
                    let of_order: Vec<_> =
                        batch.iter().filter(|(of, _)| *of == order).map(|(_, at)| *at).collect();
                    released.extend(stream.take(&of_order));
                }
            }
            prop_assert!(shuffled.is_empty());
            for ((stream, released), count) in streams.into_iter().zip(counts) {
                prop_assert_eq!(released, (1..=count).collect::<Vec<_>>());
                prop_assert!(stream.held_back.is_empty());
            }
        }
    }
}
