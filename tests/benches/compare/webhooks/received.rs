//! Compares received with expected webhooks: each event, at its endpoint, once and in its order's sequence.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::ensure;

use super::hooks::Arrival;

/// The identity of an event: the endpoint's path, its order without the prefix, its sequence.
pub(super) type EventKey = (String, String, i64);

/// The result.
pub(super) struct Received {
    expected: usize,
    /// Duplicates with the same event id, which are allowed.
    twice: usize,
}

impl Received {
    /// Fails if a webhook is missing, unexpected, or arrived before its predecessor.
    pub(super) fn of(expected: &HashSet<EventKey>, arrivals: &[Arrival]) -> anyhow::Result<Self> {
        let mut events: HashMap<EventKey, &str> = HashMap::new();
        let mut reached: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        let (mut twice, mut out_of_order) = (0, 0);
        for arrival in arrivals {
            let key = (arrival.path.clone(), arrival.order.clone(), arrival.sequence);
            ensure!(expected.contains(&key), "unexpected: {arrival:?}");
            if let Some(event) = events.get(&key) {
                ensure!(*event == arrival.event, "a second event instead of a duplicate: {arrival:?}");
                twice += 1;
                continue;
            }
            events.insert(key, &arrival.event);
            let last = reached.entry((&arrival.path, &arrival.order)).or_default();
            if arrival.sequence != *last + 1 {
                out_of_order += 1;
            }
            *last = arrival.sequence.max(*last);
        }
        let missing = expected.len() - events.len();
        ensure!(
            (missing, out_of_order) == (0, 0),
            "of {}: {missing} missing, {out_of_order} out of order",
            expected.len()
        );
        Ok(Self { expected: expected.len(), twice })
    }

    pub(super) fn text(&self) -> String {
        format!("{} webhooks, none missing, {} twice", self.expected, self.twice)
    }
}
