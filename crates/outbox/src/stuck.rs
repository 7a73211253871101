//! The kinds of events that no queue takes. Their rows stay in the outbox while other events overtake them. One row of
//! each kind is retried every second.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

const TRY: Duration = Duration::from_secs(1);
/// There are fewer kinds than this. Any further kind is retried like an ordinary event.
const KEYS_MAX: usize = 64;

/// The result of a scan.
pub(crate) struct ScanPage {
    /// All eligible rows up to this id were taken.
    pub(crate) until: i64,
    /// Whether there may be more rows.
    pub(crate) is_cut_short: bool,
    pub(crate) published: usize,
}

/// Rows become visible in another order than their ids. So scans start at the position of one or two seconds ago, and
/// an additional sweep over all rows finds those that became visible even later.
pub(crate) struct Stuck {
    /// A returned row per routing key.
    samples: BTreeMap<String, i64>,
    /// Where scans start.
    pub(crate) floor: i64,
    /// Where scans start a second later.
    next_floor: i64,
    /// The position of the scans.
    reached: i64,
    /// The position of the sweep.
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
            tracing::error!(routing_key, "no queue takes some events; they stay in the outbox");
            self.samples.insert(routing_key.clone(), *id);
        }
    }

    /// After the samples were retried: if a queue took a sample, all events of its kind are eligible.
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

    pub(crate) fn scanned(&mut self, page: &ScanPage) {
        if self.is_empty() {
            return;
        }
        self.reached = self.reached.max(page.until);
        // No scanned row is eligible: continue after them.
        if page.is_cut_short && page.published == 0 {
            self.floor = page.until;
            self.next_floor = self.next_floor.max(page.until);
        }
    }

    pub(crate) fn swept(&mut self, page: &ScanPage) {
        self.swept = match page {
            // There may be more at the same position.
            ScanPage { is_cut_short: true, published: 1.., .. } => self.swept,
            ScanPage { is_cut_short: true, until, .. } if *until < self.floor => *until,
            _ => 0,
        };
    }
}
