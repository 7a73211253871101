//! The circuit breaker of an endpoint. After repeated failures it pauses all deliveries, then probes the endpoint with
//! one webhook, and closes when the probe succeeds. Paused deliveries use up no attempts.

use std::time::Duration;

use chrono::{DateTime, Utc};

/// Consecutive failures, of any deliveries, that trip the breaker.
const TRIPS_AFTER: i32 = 10;
/// The pause after the first trip. It doubles with each failed probe.
const PAUSE_MIN: Duration = Duration::from_secs(5);
const PAUSE_MAX: Duration = Duration::from_secs(300);
const JITTER: f64 = 0.2;
/// A success after this many consecutive failures ends an outage: waiting deliveries are brought forward.
const OUTAGE_AFTER: i32 = 3;

/// The state of an endpoint's breaker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Breaker {
    /// Since the latest success.
    pub failures_in_a_row: i32,
    /// Since the latest success.
    pub trips: i32,
    /// The breaker is open until then, and half open afterwards: one webhook at a time.
    pub tripped_until: Option<DateTime<Utc>>,
}

/// The result of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub at: DateTime<Utc>,
    pub succeeded: bool,
    /// The owner's connection test, which is sent whatever the breaker's state.
    pub is_test: bool,
    /// The pause that the receiver requested.
    pub requested_pause: Option<Duration>,
}

impl Breaker {
    /// Whether the attempt succeeded while the breaker was open. It began before the trip was stored and says nothing about
    /// the endpoint since then, except for a test.
    pub(crate) fn ignores(self, sample: Sample) -> bool {
        sample.succeeded && !sample.is_test && self.tripped_until.is_some_and(|until| sample.at < until)
    }

    /// `jitter` is between -1 and 1.
    pub(crate) fn after(self, sample: Sample, jitter: f64) -> Self {
        if self.ignores(sample) {
            return self;
        }
        if sample.succeeded {
            return Self::default();
        }
        let failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        let failed = Self { failures_in_a_row, ..self };
        let trips = match self.tripped_until {
            // The attempt began before the trip: it says nothing new.
            Some(until) if sample.at < until => return failed,
            Some(_) => true,
            None => failures_in_a_row >= TRIPS_AFTER || sample.requested_pause.is_some(),
        };
        if !trips {
            return failed;
        }
        let trips = self.trips.saturating_add(1);
        let pause = pause(trips, jitter).max(sample.requested_pause.unwrap_or_default().min(PAUSE_MAX));
        Self { trips, tripped_until: Some(sample.at + pause), ..failed }
    }

    /// Whether a success would end an outage.
    pub(crate) fn is_outage(self) -> bool {
        self.tripped_until.is_some() || self.failures_in_a_row >= OUTAGE_AFTER
    }
}

fn pause(trips: i32, jitter: f64) -> Duration {
    let doublings = u32::try_from(trips.saturating_sub(1)).unwrap_or_default().min(16);
    let exact = PAUSE_MIN.saturating_mul(1 << doublings).min(PAUSE_MAX);
    exact.mul_f64(1.0 + JITTER * jitter.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    fn failure(seconds: i64) -> Sample {
        Sample { at: at(seconds), succeeded: false, is_test: false, requested_pause: None }
    }

    fn success(seconds: i64) -> Sample {
        Sample { succeeded: true, ..failure(seconds) }
    }

    fn tripped() -> Breaker {
        (0..i64::from(TRIPS_AFTER)).fold(Breaker::default(), |breaker, _| breaker.after(failure(0), 0.0))
    }

    #[test]
    fn ten_failures_in_a_row_trip_it_and_each_failed_probe_doubles_the_pause() {
        let nine = (1..TRIPS_AFTER).fold(Breaker::default(), |breaker, _| breaker.after(failure(0), 0.0));
        assert_eq!((nine.failures_in_a_row, nine.tripped_until), (9, None));
        let mut breaker = tripped();
        let mut pauses = vec![(breaker.tripped_until.unwrap() - at(0)).num_seconds()];
        for _ in 0..8 {
            let probe = Sample { at: breaker.tripped_until.unwrap(), ..failure(0) };
            breaker = breaker.after(probe, 0.0);
            pauses.push((breaker.tripped_until.unwrap() - probe.at).num_seconds());
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
    }

    #[test]
    fn attempts_in_flight_at_the_trip_do_not_prolong_the_pause() {
        let before = tripped();
        let after = before.after(failure(4), 0.0);
        assert_eq!(after.tripped_until, before.tripped_until);
        assert_eq!((after.trips, after.failures_in_a_row), (1, TRIPS_AFTER + 1));
    }

    #[test]
    fn a_success_closes_it_after_the_pause_and_a_test_at_once() {
        let open = tripped();
        assert_eq!(open.after(success(4), 0.0), open, "the attempt began before the trip");
        assert_eq!(open.after(success(5), 0.0), Breaker::default());
        assert_eq!(open.after(Sample { is_test: true, ..success(1) }, 0.0), Breaker::default());
    }

    #[test]
    fn a_requested_pause_is_granted_at_once_within_bounds() {
        for (asked, got) in [(1, 5), (60, 60), (86_400, 300)] {
            let sample = Sample { requested_pause: Some(Duration::from_secs(asked)), ..failure(0) };
            assert_eq!(Breaker::default().after(sample, 0.0).tripped_until, Some(at(got)), "{asked}");
        }
    }

    #[test]
    fn three_failures_in_a_row_are_an_outage_and_two_are_none() {
        let two = Breaker::default().after(failure(0), 0.0).after(failure(1), 0.0);
        assert!(!two.is_outage());
        assert!(two.after(failure(2), 0.0).is_outage());
        assert!(tripped().is_outage());
    }

    proptest! {
        /// A success after the pause always closes it, pauses are bounded, and only failures trip it.
        #[test]
        fn it_is_never_stuck(samples in prop::collection::vec((0_i64..5_000, any::<bool>(), prop::option::of(0_u64..100_000)), 0..60), jitter in -1.0_f64..=1.0) {
            let (mut breaker, mut failures) = (Breaker::default(), 0);
            for (seconds, succeeded, asked) in samples {
                let requested_pause = asked.map(Duration::from_secs);
                let sample = Sample { at: at(seconds), succeeded, is_test: false, requested_pause };
                let before = breaker;
                breaker = breaker.after(sample, jitter);
                if succeeded && before.tripped_until.is_some_and(|until| sample.at < until) {
                    prop_assert_eq!(breaker, before);
                    continue;
                }
                failures = if succeeded { 0 } else { failures + 1 };
                prop_assert_eq!(breaker.failures_in_a_row, failures);
                if succeeded {
                    prop_assert_eq!(breaker, Breaker::default());
                }
                if breaker.tripped_until != before.tripped_until && !succeeded {
                    let pause = breaker.tripped_until.unwrap() - sample.at;
                    prop_assert!(pause >= TimeDelta::seconds(4) && pause <= TimeDelta::seconds(360));
                    prop_assert_eq!(breaker.trips, before.trips + 1);
                }
            }
        }
    }
}
