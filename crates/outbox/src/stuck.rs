//! The kinds of events that no queue takes. Their rows stay where they are and the others pass them by; one row of each
//! kind is tried again every second.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

const TRY: Duration = Duration::from_secs(1);
/// Of more kinds than this, and there are not so many, the rest is tried in its turn like any other.
const KEYS_MAX: usize = 64;

/// What was looked at.
pub(crate) struct Look {
    /// Up to this row, all was taken that could be.
    pub(crate) until: i64,
    /// There may be more after it.
    pub(crate) is_cut_short: bool,
    pub(crate) carried: usize,
}

/// Rows become visible in another order than that of their ids. So the relay begins to look where it was a second or two
/// ago, and besides sweeps over all rows, from the first on, for what became visible later still.
pub(crate) struct Stuck {
    /// By routing key, a row that was returned.
    samples: BTreeMap<String, i64>,
    /// Where looks begin.
    pub(crate) floor: i64,
    /// Where they are to begin a second later.
    next_floor: i64,
    /// How far looks have come.
    reached: i64,
    /// How far the sweep has come.
    pub(crate) swept: i64,
    try_at: Instant,
}

impl Default for Stuck {
    fn default() -> Self {
        Self {
            samples: BTreeMap::new(),
            floor: 0,
            next_floor: 0,
            reached: 0,
            swept: 0,
            try_at: Instant::now() + TRY,
        }
    }
}

impl Stuck {
    pub(crate) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    pub(crate) fn is_due(&self) -> bool {
        !self.is_empty() && Instant::now() >= self.try_at
    }

    pub(crate) fn keys(&self) -> Vec<&str> {
        self.samples.keys().map(String::as_str).collect()
    }

    pub(crate) fn samples(&self) -> Vec<i64> {
        self.samples.values().copied().collect()
    }

    /// The first row of each routing key is its sample.
    pub(crate) fn remember(&mut self, returned: &[(String, i64)]) {
        for (routing_key, id) in returned {
            if self.samples.contains_key(routing_key) || self.samples.len() == KEYS_MAX {
                continue;
            }
            if self.is_empty() {
                self.try_at = Instant::now() + TRY;
            }
            tracing::error!(
                routing_key,
                "no queue takes some events; they stay in the outbox, and the others go on"
            );
            self.samples.insert(routing_key.clone(), *id);
        }
    }

    /// After the samples were tried: those that are gone were taken by a queue, so all of their kind may go.
    pub(crate) fn tried(&mut self, stay: &[i64]) {
        let before = self.samples.len();
        self.samples.retain(|_, id| stay.contains(id));
        self.try_at = Instant::now() + TRY;
        if self.is_empty() {
            *self = Self::default();
            tracing::info!("queues take all events again");
        } else if self.samples.len() < before {
            (self.floor, self.next_floor, self.reached, self.swept) = (0, 0, 0, 0);
        } else {
            (self.floor, self.next_floor) = (self.next_floor, self.reached);
        }
    }

    pub(crate) fn looked(&mut self, look: &Look) {
        if self.is_empty() {
            return;
        }
        self.reached = self.reached.max(look.until);
        // Nothing of so many rows may go: on to what comes after them.
        if look.is_cut_short && look.carried == 0 {
            self.floor = look.until;
            self.next_floor = self.next_floor.max(look.until);
        }
    }

    pub(crate) fn swept(&mut self, look: &Look) {
        self.swept = match look {
            // More may go from the same place.
            Look { is_cut_short: true, carried: 1.., .. } => self.swept,
            Look { is_cut_short: true, until, .. } if *until < self.floor => *until,
            _ => 0,
        };
    }
}
