//! What is known of the due deliveries of an endpoint in one mode: when some may become due. Whatever makes a delivery due
//! notes it here; the scan finds the others, for instance those of a killed process.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

/// The scan finds deliveries that become due later than this.
const SOON: Duration = Duration::from_secs(5);
/// The scan finds what becomes due after these times.
const TIMES_MAX: usize = 64;
/// A transaction that commits later may contain deliveries that are due earlier: by no more than its time limit.
const SLACK: TimeDelta = TimeDelta::seconds(10);

#[derive(Debug, Default)]
pub(super) struct Queue {
    /// When deliveries may become due. At most [`TIMES_MAX`].
    times: BTreeSet<Instant>,
    /// Counts the notes, so that a claim forgets nothing that was noted while it ran.
    notes: u64,
    /// Where a claim begins to look. The index keeps the entries of finished deliveries while an old snapshot is in use,
    /// such as a backup's, and each claim would read them again.
    since: Option<DateTime<Utc>>,
    pub(super) place: Place,
}

/// Where an endpoint waits for its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing is known to be due.
    #[default]
    Idle,
    /// It is in the turns.
    Listed,
    /// A claim asks for it.
    Asked,
    /// It waits for one of its slots, but not longer than until this time.
    Full(Option<Instant>),
    /// It waits for a token until this time, whatever else becomes due.
    Limited(Instant),
    /// It waits for this time.
    Later(Instant),
}

impl Queue {
    /// Deliveries are due at that time. False if the scan will find them.
    pub(super) fn note(&mut self, at: Instant, now: Instant) -> bool {
        if at.saturating_duration_since(now) > SOON {
            return false;
        }
        self.notes += 1;
        // One past time is enough.
        if at > now || self.next().is_none_or(|first| first > now) {
            self.times.insert(at);
        }
        if self.times.len() > TIMES_MAX {
            self.times.pop_last();
        }
        true
    }

    /// When the first may become due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.times.first().copied()
    }

    pub(super) fn notes(&self) -> u64 {
        self.notes
    }

    pub(super) fn since(&self) -> Option<DateTime<Utc>> {
        self.since
    }

    /// A claim that began at that time, after so many notes, found all that was due.
    pub(super) fn emptied(&mut self, began: Instant, notes: u64) {
        if self.notes == notes {
            self.times.retain(|at| *at > began);
        }
    }

    /// A claim found the first free delivery due at this time.
    pub(super) fn found(&mut self, due_at: DateTime<Utc>) {
        self.since = Some(due_at - SLACK);
    }

    /// What becomes free below that time, for instance when the lease of a killed process expires, is found by the scan, which
    /// looks at everything.
    pub(super) fn look_at_everything(&mut self) {
        self.since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_forgets_the_times_before_it_unless_something_was_noted_meanwhile() {
        let now = Instant::now();
        let at = |milliseconds| now + Duration::from_millis(milliseconds);
        let mut queue = Queue::default();
        assert!(queue.note(at(50), now) && queue.note(at(120), now));
        assert!(!queue.note(at(6_000), now), "the scan finds it");
        assert_eq!(queue.next(), Some(at(50)));
        let notes = queue.notes();
        queue.note(at(60), at(55));
        queue.emptied(at(55), notes);
        assert_eq!(queue.next(), Some(at(50)), "one was noted during the claim");
        queue.emptied(at(61), queue.notes());
        assert_eq!(queue.next(), Some(at(120)), "a later one is due at its time");
        queue.emptied(at(120), queue.notes());
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn the_number_of_times_is_bounded() {
        let (now, mut queue) = (Instant::now(), Queue::default());
        for milliseconds in 1..1_000 {
            queue.note(now + Duration::from_millis(milliseconds), now);
        }
        assert_eq!((queue.times.len(), queue.next()), (TIMES_MAX, Some(now + Duration::from_millis(1))));
    }
}
