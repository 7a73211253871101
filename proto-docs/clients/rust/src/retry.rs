//! Decides whether and when a call is repeated. Pure: the clock and the jitter come from outside.

use std::time::{Duration, UNIX_EPOCH};

use crate::Error;

const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(8);

/// 409s that end by themselves; all others are final.
const PASSING_CONFLICTS: [&str; 2] = ["order_in_progress", "idempotency_in_progress"];

/// Whether the same request can succeed later.
pub(crate) fn is_transient(error: &Error) -> bool {
    match error {
        Error::NoAnswer { .. } => true,
        Error::Api(error) => match error.status {
            408 | 429 | 500.. => true,
            409 => PASSING_CONFLICTS.contains(&error.code.as_str()),
            _ => false,
        },
        Error::Argument(_) => false,
    }
}

/// Whether the failed attempt certainly had no effect, so that even a call without a key can be repeated.
pub(crate) fn had_no_effect(error: &Error) -> bool {
    error.api().is_some_and(|error| error.status == 429)
}

/// The pause after the given number of attempts: growing, ±50 %, and never shorter than `Retry-After`.
pub(crate) fn pause(attempts: u32, error: &Error, jitter: f64) -> Duration {
    let growing = PAUSE_MIN.saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1))).min(PAUSE_MAX);
    let asked = error.api().and_then(|error| error.retry_after).unwrap_or_default();
    growing.mul_f64(0.5 + jitter.clamp(0.0, 1.0)).max(asked)
}

/// `Retry-After` as seconds or as a date.
pub(crate) fn read_retry_after(header: &str, now_ms: i64) -> Option<Duration> {
    if header.len() <= 9 && header.bytes().all(|byte| byte.is_ascii_digit()) {
        return header.parse().ok().map(Duration::from_secs);
    }
    let at = httpdate::parse_http_date(header).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(at.saturating_sub(Duration::from_millis(u64::try_from(now_ms).unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ApiError, NoAnswer};

    fn api(status: u16, code: &str) -> Error {
        Error::Api(Box::new(ApiError { status, code: code.into(), ..ApiError::default() }))
    }

    #[test]
    fn only_errors_that_can_pass_are_repeated() {
        for (status, code, repeated) in [
            (400, "invalid_request", false),
            (402, "insufficient_wallet_balance", false),
            (408, "http_408", true),
            (409, "order_in_progress", true),
            (409, "idempotency_in_progress", true),
            (409, "order_reference_exists", false),
            (429, "rate_limited", true),
            (500, "internal", true),
            (503, "http_503", true),
        ] {
            assert_eq!(is_transient(&api(status, code)), repeated, "{status} {code}");
            assert_eq!(had_no_effect(&api(status, code)), status == 429, "{status}");
        }
        assert!(is_transient(&NoAnswer::Timeout.into()));
        assert!(!is_transient(&Error::Argument("wrong")));
    }

    #[test]
    fn pauses_grow_and_respect_retry_after() {
        let error = NoAnswer::Unreachable.into();
        let pauses: Vec<u128> =
            [1, 2, 5, 6, 100].map(|attempts| pause(attempts, &error, 0.5).as_millis()).into();
        assert_eq!(pauses, [500, 1_000, 8_000, 8_000, 8_000]);
        assert_eq!(pause(1, &error, 0.0).as_millis(), 250);
        let asked =
            ApiError { status: 503, retry_after: Some(Duration::from_secs(7)), ..ApiError::default() };
        assert_eq!(pause(1, &Error::Api(Box::new(asked)), 0.5), Duration::from_secs(7));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(read_retry_after("7", 0), Some(Duration::from_secs(7)));
        let date = "Thu, 01 Jan 1970 00:01:00 GMT";
        assert_eq!(read_retry_after(date, 50_000), Some(Duration::from_secs(10)));
        assert_eq!(read_retry_after(date, 90_000), Some(Duration::ZERO));
        for unreadable in ["", "-1", "soon", "1.5"] {
            assert_eq!(read_retry_after(unreadable, 0), None, "{unreadable}");
        }
    }
}
