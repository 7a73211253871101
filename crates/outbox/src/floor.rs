//! Where looks at the table begin. Deleted rows stay in its index until a vacuum removes them, and a long transaction, such
//! as a backup, puts that off: looks from the beginning would read all of them again and again.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::rows::Ends;

/// Rows become visible in another order than their ids, but not later than this: a transaction of a service takes at most
/// ten seconds.
const LATE_MAX: Duration = Duration::from_secs(15);
/// The interval of looks from the beginning. They find what breaks that rule, for instance a row inserted by hand.
const RECHECK: Duration = Duration::from_secs(60);

/// No row has this id or a lower one.
#[derive(Default)]
pub(crate) struct Floor(AtomicI64);

impl Floor {
    pub(crate) fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Raises the floor by what the looks find.
pub(crate) struct FloorWatch {
    /// No row with this id or a lower one was visible at this time.
    gone: Option<(i64, Instant)>,
    /// The last row that was seen.
    newest: i64,
    recheck_at: Instant,
}

impl FloorWatch {
    pub(crate) fn new(now: Instant) -> Self {
        Self { gone: None, newest: 0, recheck_at: now + RECHECK }
    }

    /// Where the next look begins.
    pub(crate) fn next_look(&mut self, floor: &Floor, now: Instant) -> i64 {
        if now < self.recheck_at {
            return floor.get();
        }
        self.recheck_at = now + RECHECK;
        0
    }

    /// After a look at the table.
    pub(crate) fn found(&mut self, floor: &Floor, ends: &Ends, now: Instant) {
        self.newest = ends.newest.unwrap_or(self.newest);
        let gone = ends.oldest.map_or(self.newest, |oldest| oldest - 1);
        let mut raised = floor.get();
        match self.gone {
            Some((earlier, since)) if now - since >= LATE_MAX => {
                raised = raised.max(earlier);
                self.gone = Some((gone, now));
            }
            Some(_) => {}
            None => self.gone = Some((gone, now)),
        }
        floor.0.store(raised.min(gone), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ends(oldest: i64, newest: i64) -> Ends {
        Ends { oldest: Some(oldest), newest: Some(newest) }
    }

    const NO_ROW: Ends = Ends { oldest: None, newest: None };

    #[test]
    fn it_follows_what_was_gone_long_enough_ago() {
        let (floor, start) = (Floor::default(), Instant::now());
        let mut watch = FloorWatch::new(start);
        watch.found(&floor, &ends(101, 500), start);
        watch.found(&floor, &ends(301, 500), start + LATE_MAX / 2);
        assert_eq!(floor.get(), 0, "a row below 101 may still become visible");
        watch.found(&floor, &NO_ROW, start + LATE_MAX);
        assert_eq!(floor.get(), 100);
        watch.found(&floor, &ends(601, 700), start + LATE_MAX * 2);
        assert_eq!(floor.get(), 500, "no row was visible, and 500 was the newest");
    }

    #[test]
    fn it_never_passes_a_row() {
        let (floor, start) = (Floor::default(), Instant::now());
        let mut watch = FloorWatch::new(start);
        watch.found(&floor, &ends(101, 500), start);
        watch.found(&floor, &ends(51, 500), start + LATE_MAX);
        assert_eq!(floor.get(), 50, "this row became visible late");
        watch.found(&floor, &ends(51, 500), start + LATE_MAX * 2);
        assert_eq!(floor.get(), 50);
    }

    #[test]
    fn a_look_from_the_beginning_finds_what_is_below() {
        let (floor, start) = (Floor::default(), Instant::now());
        let mut watch = FloorWatch::new(start);
        watch.found(&floor, &ends(101, 500), start);
        watch.found(&floor, &ends(101, 500), start + LATE_MAX);
        assert_eq!(watch.next_look(&floor, start + LATE_MAX), 100);
        let later = start + RECHECK;
        assert_eq!(watch.next_look(&floor, later), 0);
        assert_eq!(watch.next_look(&floor, later), 100, "once");
        watch.found(&floor, &ends(7, 500), later);
        assert_eq!(floor.get(), 6);
    }
}
