//! The grace period of a rotated key (SPECIFICATION §5.6).

use chrono::TimeDelta;

/// One of 0, 15 minutes, 1 hour, 6 hours and 24 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grace(u32);

impl Grace {
    /// In seconds.
    const ALLOWED: [u32; 5] = [0, 900, 3_600, 21_600, 86_400];

    /// The longest.
    pub(crate) const MAX: TimeDelta = TimeDelta::hours(24);

    pub(crate) fn from_seconds(seconds: i64) -> Option<Self> {
        Self::ALLOWED.into_iter().find(|allowed| i64::from(*allowed) == seconds).map(Self)
    }

    /// True when the old key stops working immediately.
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn duration(self) -> TimeDelta {
        TimeDelta::seconds(i64::from(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_five_graces_exist() {
        for seconds in [0, 900, 3_600, 21_600, 86_400] {
            let duration = Grace::from_seconds(seconds).unwrap().duration();
            assert!(duration == TimeDelta::seconds(seconds) && duration <= Grace::MAX);
        }
        for seconds in [-1, 1, 899, 901, 86_401, i64::MAX] {
            assert_eq!(Grace::from_seconds(seconds), None, "{seconds}");
        }
        assert!(Grace::from_seconds(0).unwrap().is_none());
        assert!(!Grace::from_seconds(900).unwrap().is_none());
    }
}
