//! Callers that show a key or token that is not good, by address: so that none is found by trying, and so that trying does
//! not keep the service that knows the keys busy.
//!
//! Many callers may share an address. What fails is counted and nothing else, and a good key is served however many bad
//! ones came before it; only far beyond the limit are keys not looked up any more that were not good a moment ago.

use std::num::NonZeroU32;

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use domain::Clock;
use settings::TrustedProxies;

use crate::ApiError;
use crate::address_limits::AddressLimit;
use crate::caller::CallerAddress;
use crate::rate::{Exceeded, Policy};

/// One more each second, once those at once are used up.
const PER_SECOND: NonZeroU32 = NonZeroU32::new(1).unwrap();
/// So many times the limit is far beyond it.
const FAR_BEYOND: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// Counts failures per address.
pub struct FailureLimits {
    proxies: TrustedProxies,
    /// None when the limits per address are lifted.
    limits: Option<[AddressLimit; 2]>,
}

impl FailureLimits {
    /// `at_once` failures are answered as what they are; `None` lifts the limit.
    pub fn new(at_once: Option<NonZeroU32>, proxies: TrustedProxies, clock: &Clock) -> Self {
        let limits = at_once.map(|burst| {
            let near = Policy { name: "failed-authentication", per_second: PER_SECOND, burst };
            let far = Policy {
                per_second: PER_SECOND.saturating_mul(FAR_BEYOND),
                burst: burst.saturating_mul(FAR_BEYOND),
                ..near
            };
            [near, far].map(|policy| AddressLimit::new(policy, clock.clone()))
        });
        Self { proxies, limits }
    }

    /// Whether so much failed from there of late that nothing more is looked up for it.
    pub fn is_far_beyond(&self, request: &HttpRequest) -> bool {
        let address = CallerAddress::of(request, &self.proxies);
        address.is_some_and(|address| self.is_exhausted(address))
    }

    /// Counts a failure. Gives it back, or 429 in its place when there were too many.
    pub fn count(&self, request: &HttpRequest, failure: ApiError) -> ApiError {
        let address = CallerAddress::of(request, &self.proxies);
        match address.and_then(|address| self.charge(address).err()) {
            Some(Exceeded(standing)) => {
                let refusal = too_many_failures(standing.resets_in_s);
                standing.headers().fold(refusal, |error, (name, value)| error.with_header(name, value))
            }
            None => failure,
        }
    }

    fn charge(&self, address: CallerAddress) -> Result<(), Exceeded> {
        let Some([near, far]) = &self.limits else { return Ok(()) };
        // The second is only ever asked whether it is empty; what it takes beyond that makes no difference.
        let _far = far.charge(address);
        near.charge(address).map(|_standing| ())
    }

    fn is_exhausted(&self, address: CallerAddress) -> bool {
        self.limits.as_ref().is_some_and(|[_, far]| far.is_empty(address))
    }
}

/// 429, with when to come back.
pub fn too_many_failures(wait_s: u64) -> ApiError {
    let seconds = u32::try_from(wait_s).unwrap_or(u32::MAX);
    let message = format!(
        "Too many keys or tokens from your address were not valid. Wait {seconds} s, and send a key from your backend's \
         configuration; a good one is still served."
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
        let limits = FailureLimits::new(at_once.and_then(NonZeroU32::new), TrustedProxies::default(), &clock);
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
    fn an_address_may_fail_so_often_then_once_a_second() {
        let (clock, limits) = limits(Some(5));
        for _ in 0..5 {
            assert_eq!(answer(&limits, "192.0.2.1"), 401);
        }
        assert_eq!(answer(&limits, "192.0.2.1"), 429);
        assert_eq!(answer(&limits, "192.0.2.2"), 401, "another address");
        clock.advance(TimeDelta::seconds(1));
        assert_eq!([answer(&limits, "192.0.2.1"), answer(&limits, "192.0.2.1")], [401, 429]);
    }

    #[test]
    fn far_beyond_comes_after_ten_times_as_many_and_passes() {
        let (clock, limits) = limits(Some(5));
        for _ in 0..50 {
            answer(&limits, "192.0.2.1");
            assert!(!limits.is_far_beyond(&from("192.0.2.1")));
        }
        answer(&limits, "192.0.2.1");
        assert!(limits.is_far_beyond(&from("192.0.2.1")));
        assert!(!limits.is_far_beyond(&from("192.0.2.2")));
        clock.advance(TimeDelta::seconds(1));
        assert!(!limits.is_far_beyond(&from("192.0.2.1")));
    }

    #[test]
    fn the_limit_can_be_lifted() {
        let (_, limits) = limits(None);
        for _ in 0..1_000 {
            assert_eq!(answer(&limits, "192.0.2.1"), 401);
        }
        assert!(!limits.is_far_beyond(&from("192.0.2.1")));
    }
}
