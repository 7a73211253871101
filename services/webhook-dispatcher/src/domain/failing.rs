//! When to warn the owner of an endpoint that only fails, and when to disable it (SPECIFICATION §11.5).

use chrono::TimeDelta;
use strum::{EnumString, IntoStaticStr};

/// The shares of the time limit at which the owner is warned. At the last one the endpoint is disabled.
const NOTICES_PERCENT: [i32; 3] = [50, 80, DISABLED_PERCENT];
pub(crate) const DISABLED_PERCENT: i32 = 100;

/// The owner's decision on parked deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ParkedDecision {
    Replay,
    Discard,
}

/// All notices that an owner should have received by now.
pub(crate) fn notices_due(failed_for: TimeDelta, limit: TimeDelta) -> impl Iterator<Item = i32> {
    NOTICES_PERCENT.into_iter().filter(move |percent| failed_for * 100 >= limit * *percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_warned_at_half_at_four_fifths_and_at_the_end() {
        let limit = TimeDelta::days(5);
        for (hours, expected) in [
            (0, vec![]),
            (59, vec![]),
            (60, vec![50]),
            (95, vec![50]),
            (96, vec![50, 80]),
            (120, vec![50, 80, 100]),
        ] {
            assert_eq!(notices_due(TimeDelta::hours(hours), limit).collect::<Vec<_>>(), expected, "{hours}");
        }
    }
}
