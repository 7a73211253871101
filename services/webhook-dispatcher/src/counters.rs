//! The service's counters exist from its start: one that begins with what it counts hides that first event from whoever
//! watches its increase, and so from the alert that it is for.

use metrics::counter;

use crate::sender::OUTCOMES;

const PLAIN: [&str; 7] = [
    "webhook_breaker_trips_total",
    "webhook_outcomes_fenced_total",
    "webhook_held_back_overflow_total",
    "webhook_held_back_total",
    "webhook_recovered_total",
    "webhook_skipped_total",
    "webhook_taken_over_total",
];

/// Puts them at nought where they are not there yet.
pub(crate) fn create() {
    for name in PLAIN {
        counter!(name).increment(0);
    }
    for outcome in OUTCOMES {
        counter!("webhook_attempts_total", "outcome" => outcome).increment(0);
    }
}
