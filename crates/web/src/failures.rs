//! Limits failed authentications per address: keys cannot be guessed, and guesses cannot overload key-management.
//!
//! Counts only failures, because many callers may share an IP address. A valid key works however many attempts failed
//! before it. An address that exceeds the hard limit is blocked: only cached keys work, and no key is looked up for it.

use std::num::NonZeroU32;

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use domain::Clock;
use settings::Networks;

use crate::ApiError;
use crate::address_limits::AddressLimit;
use crate::caller_address::CallerAddress;
use crate::rate::{Exceeded, Policy};

/// The rate at which further failures are allowed after the burst.
const PER_SECOND: NonZeroU32 = NonZeroU32::new(1).unwrap();
/// The hard limit is this many times the soft limit.
const HARD_LIMIT_FACTOR: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// Counts failures per address.
pub struct FailureLimits {
    proxies: Networks,
    /// The soft and the hard limit; `None` when the limits per address are lifted.
    limits: Option<[AddressLimit; 2]>,
}

impl FailureLimits {
    /// `at_once` failures get their own answer before 429. `None` lifts the limit.
    pub fn new(at_once: Option<NonZeroU32>, proxies: Networks, clock: &Clock) -> Self {
        let limits = at_once.map(|burst| {
            let soft = Policy { name: "failed-authentication", per_second: PER_SECOND, burst };
            let hard = Policy {
                per_second: PER_SECOND.saturating_mul(HARD_LIMIT_FACTOR),
                burst: burst.saturating_mul(HARD_LIMIT_FACTOR),
                ..soft
            };
            [soft, hard].map(|policy| AddressLimit::new(policy, clock.clone()))
        });
        Self { proxies, limits }
    }

    /// Whether the address exceeded the hard limit, so that no key is looked up for it.
    pub fn is_blocked(&self, request: &HttpRequest) -> bool {
        let address = CallerAddress::of(request, &self.proxies);
        address.is_some_and(|address| self.is_exhausted(address))
    }

    /// Counts a failure. Returns it, or 429 when the address failed too often.
    pub fn count(&self, request: &HttpRequest, failure: ApiError) -> ApiError {
        let address = CallerAddress::of(request, &self.proxies);
        match address.and_then(|address| self.charge(address).err()) {
            Some(Exceeded(standing)) => {
                let is_blocked = address.is_some_and(|address| self.is_exhausted(address));
                let refusal = too_many_failures(standing.resets_in_s, is_blocked);
                standing.headers().fold(refusal, |error, (name, value)| error.with_header(name, value))
            }
            None => failure,
        }
    }

    fn charge(&self, address: CallerAddress) -> Result<(), Exceeded> {
        let Some([soft, hard]) = &self.limits else { return Ok(()) };
        // Only `is_blocked` uses the hard limit, so its result does not matter here.
        let _hard = hard.charge(address);
        soft.charge(address).map(|_standing| ())
    }

    fn is_exhausted(&self, address: CallerAddress) -> bool {
        self.limits.as_ref().is_some_and(|[_, hard]| hard.is_empty(address))
    }
}

/// 429 with `Retry-After`. `is_blocked`: no key is looked up meanwhile.
pub fn too_many_failures(wait_s: u64, is_blocked: bool) -> ApiError {
    let seconds = u32::try_from(wait_s).unwrap_or(u32::MAX);
    let accepted = match is_blocked {
        true => "Until then, only keys that worked within the last minute are accepted.",
        false => "Valid keys are still accepted.",
    };
    let message = format!(
        "Too many invalid keys or tokens came from your address. Wait {seconds} s, then send a valid key from your \
         backend's configuration. {accepted}"
    );
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_failures", message).retry_after(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;
    use chrono::{DateTime, TimeDelta};

    fn limits(at_once: Option<u32>) -> (Clock, FailureLimits) {
        let clock = Clock::manual(DateTime::UNIX_EPOCH);
        let limits = FailureLimits::new(at_once.and_then(NonZeroU32::new), Networks::default(), &clock);
        (clock, limits)
    }

    fn from(address: &str) -> HttpRequest {
        TestRequest::default().peer_addr(format!("{address}:4711").parse().unwrap()).to_http_request()
    }

    fn answer(limits: &FailureLimits, address: &str) -> u16 {
        let failure = ApiError::new(StatusCode::UNAUTHORIZED, "invalid_api_key", "no");
        limits.count(&from(address), failure).status().as_u16()
    }

    #[test]
    fn an_address_may_fail_in_a_burst_and_then_once_a_second() {
        let (clock, limits) = limits(Some(5));
        for _ in 0..5 {
            assert_eq!(answer(&limits, "192.0.2.1"), 401);
        }
        assert_eq!(answer(&limits, "192.0.2.1"), 429);
        let refused = limits.count(&from("192.0.2.1"), ApiError::unavailable()).to_string();
        assert!(refused.ends_with("Valid keys are still accepted."), "{refused}");
        assert_eq!(answer(&limits, "192.0.2.2"), 401, "another address");
        clock.advance(TimeDelta::seconds(1));
        assert_eq!([answer(&limits, "192.0.2.1"), answer(&limits, "192.0.2.1")], [401, 429]);
    }

    #[test]
    fn an_address_is_blocked_after_ten_times_the_limit_and_unblocked_later() {
        let (clock, limits) = limits(Some(5));
        for _ in 0..50 {
            answer(&limits, "192.0.2.1");
            assert!(!limits.is_blocked(&from("192.0.2.1")));
        }
        let refused = |address| limits.count(&from(address), ApiError::unavailable()).to_string();
        assert!(refused("192.0.2.1").ends_with("within the last minute are accepted."));
        assert!(limits.is_blocked(&from("192.0.2.1")));
        assert!(!limits.is_blocked(&from("192.0.2.2")));
        clock.advance(TimeDelta::seconds(1));
        assert!(!limits.is_blocked(&from("192.0.2.1")));
    }

    #[test]
    fn the_limit_can_be_lifted() {
        let (_, limits) = limits(None);
        for _ in 0..1_000 {
            assert_eq!(answer(&limits, "192.0.2.1"), 401);
        }
        assert!(!limits.is_blocked(&from("192.0.2.1")));
    }
}
