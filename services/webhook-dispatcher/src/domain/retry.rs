//! The retry schedule of failed deliveries (SPECIFICATION §11.5).

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SECONDS: [u64; 11] = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 86_400];
/// In test mode a developer is waiting, so days of retries are useless.
const TEST_RETRIES: usize = 5;
const JITTER: f64 = 0.2;
/// The later events of the order wait, so one response must not delay them for a day.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(3_600);
/// Limits of an operator's own schedule.
const RETRIES_MAX: usize = 50;
const DELAY_SECONDS_MAX: f64 = 604_800.0;

/// The delays between attempts.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub struct RetrySchedule(Vec<Duration>);

impl Default for RetrySchedule {
    fn default() -> Self {
        Self(SECONDS.map(Duration::from_secs).to_vec())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be up to 50 delays in seconds, each up to 604800, such as \"5, 30, 120\"")]
pub struct InvalidSchedule;

impl From<RetrySchedule> for String {
    fn from(schedule: RetrySchedule) -> Self {
        settings::comma_separated(schedule.0.iter().map(Duration::as_secs_f64))
    }
}

impl TryFrom<String> for RetrySchedule {
    type Error = InvalidSchedule;

    fn try_from(text: String) -> Result<Self, InvalidSchedule> {
        let parse = |part: &str| {
            let seconds = part.trim().parse::<f64>().map_err(|_| InvalidSchedule)?;
            let sane = (0.0..=DELAY_SECONDS_MAX).contains(&seconds);
            if sane { Ok(Duration::from_secs_f64(seconds)) } else { Err(InvalidSchedule) }
        };
        let delays = text.split(',').map(parse).collect::<Result<Vec<_>, _>>()?;
        if delays.len() > RETRIES_MAX { Err(InvalidSchedule) } else { Ok(Self(delays)) }
    }
}

impl RetrySchedule {
    /// The delay after attempt number `attempt` (from 1) failed; none after the last one. `jitter` is between -1 and 1.
    /// A receiver can only lengthen the delay.
    pub fn next_attempt(
        &self,
        mode: Mode,
        attempt: i32,
        retry_after: Option<Duration>,
        jitter: f64,
    ) -> Option<Duration> {
        let retries = match mode {
            Mode::Live => &self.0[..],
            Mode::Test => &self.0[..self.0.len().min(TEST_RETRIES)],
        };
        let delay = *retries.get(usize::try_from(attempt).ok()?.checked_sub(1)?)?;
        let scheduled = delay.mul_f64(1.0 + JITTER * jitter.clamp(-1.0, 1.0));
        Some(retry_after.map_or(scheduled, |asked| scheduled.max(asked.min(RETRY_AFTER_MAX))))
    }
}

/// Parses `Retry-After`: seconds, or a date (RFC 9110 §10.2.3). Ignores invalid values.
pub(crate) fn retry_after(value: &str, now: DateTime<Utc>) -> Option<Duration> {
    let value = value.trim();
    if value.bytes().all(|byte| byte.is_ascii_digit()) && !value.is_empty() {
        // A number that does not fit exceeds the maximum anyway.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = DateTime::parse_from_rfc2822(value).ok()?.with_timezone(&Utc);
    (date - now).to_std().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(mode: Mode, attempt: i32, jitter: f64) -> Option<u64> {
        RetrySchedule::default().next_attempt(mode, attempt, None, jitter).map(|delay| delay.as_secs())
    }

    #[test]
    fn the_default_schedule_is_the_specified_one() {
        let live: Vec<_> = (1..=12).map(|attempt| seconds(Mode::Live, attempt, 0.0)).collect();
        let expected = SECONDS.map(Some).into_iter().chain([None]).collect::<Vec<_>>();
        assert_eq!(live, expected);
        let test: Vec<_> = (1..=6).map(|attempt| seconds(Mode::Test, attempt, 0.0)).collect();
        assert_eq!(test, [Some(5), Some(30), Some(120), Some(600), Some(1_800), None]);
    }

    #[test]
    fn invalid_attempt_numbers_end_the_retries() {
        for attempt in [i32::MIN, -1, 0, 13, i32::MAX] {
            assert_eq!(seconds(Mode::Live, attempt, 0.0), None, "{attempt}");
        }
    }

    #[test]
    fn retry_after_lengthens_the_delay_up_to_an_hour() {
        let schedule = RetrySchedule::default();
        for (asked, waited) in [(0, 5), (4, 5), (6, 6), (3_600, 3_600), (86_400, 3_600), (1_000_000, 3_600)] {
            let delay = schedule.next_attempt(Mode::Live, 1, Some(Duration::from_secs(asked)), 0.0);
            assert_eq!(delay, Some(Duration::from_secs(waited)), "{asked}");
        }
        assert_eq!(schedule.next_attempt(Mode::Live, 12, Some(Duration::from_secs(1)), 0.0), None);
    }

    #[test]
    fn both_forms_of_retry_after_are_read() {
        let now = DateTime::parse_from_rfc3339("2026-01-05T10:00:00Z").unwrap().with_timezone(&Utc);
        for (value, expected) in [
            ("120", Some(120)),
            (" 7 ", Some(7)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Mon, 05 Jan 2026 10:01:30 GMT", Some(90)),
            ("Mon, 05 Jan 2026 09:59:00 GMT", None),
            ("", None),
            ("-5", None),
            ("soon", None),
        ] {
            assert_eq!(retry_after(value, now).map(|wait| wait.as_secs()), expected, "{value}");
        }
    }

    #[test]
    fn an_operator_s_own_schedule_is_read_and_checked() {
        let schedule = RetrySchedule::try_from("0.5, 2".to_owned()).unwrap();
        assert_eq!(schedule.next_attempt(Mode::Live, 1, None, 0.0), Some(Duration::from_millis(500)));
        assert_eq!(schedule.next_attempt(Mode::Live, 3, None, 0.0), None);
        for bad in ["", "5,,6", "-1", "NaN", "inf", "1e9", "five"] {
            assert_eq!(RetrySchedule::try_from(bad.to_owned()), Err(InvalidSchedule), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn jitter_stays_within_a_fifth(attempt in 1_i32..=11, jitter in -1.0_f64..=1.0) {
            let exact = RetrySchedule::default().next_attempt(Mode::Live, attempt, None, 0.0).unwrap();
            let delay = RetrySchedule::default().next_attempt(Mode::Live, attempt, None, jitter).unwrap();
            prop_assert!(delay >= exact.mul_f64(0.7999) && delay <= exact.mul_f64(1.2001));
        }
    }
}
