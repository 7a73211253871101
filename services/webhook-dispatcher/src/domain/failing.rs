//! An endpoint that only fails is disabled in the end; its owner is told on the way (`design.md` §5, “retries”).

use chrono::TimeDelta;
use strum::{EnumString, IntoStaticStr};

/// How much of its time has passed when an owner is told; at the last it is disabled.
const NOTICES_PERCENT: [i32; 3] = [50, 80, DISABLED_PERCENT];
pub(crate) const DISABLED_PERCENT: i32 = 100;

/// What its owner wants done with what was parked while an endpoint was disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ParkedFate {
    Replay,
    Discard,
}

/// All that an owner is to have been told of an endpoint that has failed for so long.
pub(crate) fn notices_due(failed_for: TimeDelta, limit: TimeDelta) -> impl Iterator<Item = i32> {
    NOTICES_PERCENT.into_iter().filter(move |percent| failed_for * 100 >= limit * *percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_told_at_half_at_four_fifths_and_at_the_end() {
        let limit = TimeDelta::days(5);
        for (hours, told) in [
            (0, vec![]),
            (59, vec![]),
            (60, vec![50]),
            (95, vec![50]),
            (96, vec![50, 80]),
            (120, vec![50, 80, 100]),
        ] {
            assert_eq!(notices_due(TimeDelta::hours(hours), limit).collect::<Vec<_>>(), told, "{hours}");
        }
    }
}
