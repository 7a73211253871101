//! The circuit breaker of an endpoint: one that only fails is left alone for a while, then tried with one webhook, and
//! is sent to as before once that is received. Its deliveries lose no attempts meanwhile.

use std::time::Duration;

use chrono::{DateTime, Utc};

/// So many failures in a row, of whatever deliveries, trip the breaker.
const TRIPS_AFTER: i32 = 10;
/// The pause after the first trip; it doubles with each probe that fails.
const PAUSE_MIN: Duration = Duration::from_secs(5);
const PAUSE_MAX: Duration = Duration::from_secs(300);
const JITTER: f64 = 0.2;
/// A success after this many failures in a row ends an outage: what waits for its next attempt need not wait longer.
const OUTAGE_AFTER: i32 = 3;

/// What is remembered of an endpoint's latest attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Breaker {
    /// Since the latest success.
    pub failures_in_a_row: i32,
    /// How often it tripped since then.
    pub trips: i32,
    /// Nothing is sent before; afterwards one webhook at a time, to see.
    pub tripped_until: Option<DateTime<Utc>>,
}

/// One attempt, as a breaker sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub at: DateTime<Utc>,
    pub succeeded: bool,
    /// The receiver asked to be left alone so long.
    pub asked_for: Option<Duration>,
}

impl Breaker {
    /// `jitter` lies between -1 and 1.
    pub(crate) fn after(self, sample: Sample, jitter: f64) -> Self {
        if sample.succeeded {
            return Self::default();
        }
        let failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        let failed = Self { failures_in_a_row, ..self };
        let trips = match self.tripped_until {
            // What was under way when it tripped says nothing new.
            Some(until) if sample.at < until => return failed,
            Some(_) => true,
            None => failures_in_a_row >= TRIPS_AFTER || sample.asked_for.is_some(),
        };
        if !trips {
            return failed;
        }
        let trips = self.trips.saturating_add(1);
        let pause = pause(trips, jitter).max(sample.asked_for.unwrap_or_default().min(PAUSE_MAX));
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
        Sample { at: at(seconds), succeeded: false, asked_for: None }
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
            let probe = Sample { at: breaker.tripped_until.unwrap(), succeeded: false, asked_for: None };
            breaker = breaker.after(probe, 0.0);
            pauses.push((breaker.tripped_until.unwrap() - probe.at).num_seconds());
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
    }

    #[test]
    fn what_was_under_way_when_it_tripped_does_not_prolong_the_pause() {
        let before = tripped();
        let after = before.after(failure(4), 0.0);
        assert_eq!(after.tripped_until, before.tripped_until);
        assert_eq!((after.trips, after.failures_in_a_row), (1, TRIPS_AFTER + 1));
    }

    #[test]
    fn a_receiver_that_asks_for_time_gets_it_at_once_within_bounds() {
        for (asked, got) in [(1, 5), (60, 60), (86_400, 300)] {
            let sample = Sample { asked_for: Some(Duration::from_secs(asked)), ..failure(0) };
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
        /// Whatever happens: a success closes it, a pause is bounded, and it is tripped only after failures.
        #[test]
        fn it_is_never_stuck(samples in prop::collection::vec((0_i64..5_000, any::<bool>(), prop::option::of(0_u64..100_000)), 0..60), jitter in -1.0_f64..=1.0) {
            let (mut breaker, mut failures) = (Breaker::default(), 0);
            for (seconds, succeeded, asked) in samples {
                let sample = Sample { at: at(seconds), succeeded, asked_for: asked.map(Duration::from_secs) };
                let before = breaker;
                breaker = breaker.after(sample, jitter);
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
