//! Compares received with expected webhooks: each event, at its endpoint, once and in its order's sequence.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::hooks::Arrival;

/// The identity of an event: the endpoint's path, its order without the prefix, its sequence.
pub(crate) type Place = (String, String, i64);

/// The result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Received {
    pub(crate) expected: usize,
    pub(crate) missing: usize,
    /// Unexpected webhooks.
    pub(crate) strange: usize,
    /// Duplicates with the same event id.
    pub(crate) twice: usize,
    /// Arrived before its predecessor.
    pub(crate) out_of_order: usize,
}

impl Received {
    pub(crate) fn of(expected: &HashSet<Place>, arrivals: &[Arrival]) -> Self {
        let mut events: HashMap<Place, &str> = HashMap::new();
        let mut reached: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        let mut found = Self { expected: expected.len(), ..Self::default() };
        for arrival in arrivals {
            let place = (arrival.path.clone(), arrival.order.clone(), arrival.sequence);
            if !expected.contains(&place) {
                found.strange += 1;
                continue;
            }
            if let Some(event) = events.get(&place) {
                // A duplicate with another id would be a second event.
                if *event == arrival.event {
                    found.twice += 1
                } else {
                    found.strange += 1
                }
                continue;
            }
            events.insert(place, &arrival.event);
            let last = reached.entry((&arrival.path, &arrival.order)).or_default();
            if arrival.sequence != *last + 1 {
                found.out_of_order += 1;
            }
            *last = arrival.sequence.max(*last);
        }
        found.missing = expected.len() - events.len();
        found
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.expected += other.expected;
        self.missing += other.missing;
        self.strange += other.strange;
        self.twice += other.twice;
        self.out_of_order += other.out_of_order;
    }

    /// Whether nothing was lost, unexpected or out of order. Duplicates are reported, and allowed after a crash.
    pub(crate) fn is_right(&self) -> bool {
        self.missing == 0 && self.strange == 0 && self.out_of_order == 0
    }

    pub(crate) fn text(&self) -> String {
        let Self { expected, missing, strange, twice, out_of_order } = self;
        let strange = if *strange > 0 { format!(", {strange} strange") } else { String::new() };
        format!("{expected}: {missing} missing, {twice} twice, {out_of_order} out of order{strange}")
    }
}
