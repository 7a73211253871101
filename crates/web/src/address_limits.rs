//! Rate limits per IP address, for requests without an API key. Memory is bounded: the limiter keeps only the addresses
//! that called most recently.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::Clock;
use governor::clock::Clock as _;
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use lru::LruCache;

use crate::caller_address::CallerAddress;
use crate::limit_clock::LimitClock;
use crate::rate::{Exceeded, Policy, Standing};

/// About 10 MB of memory.
const ADDRESSES_MAX: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();

struct Bucket {
    limiter: RateLimiter<NotKeyed, InMemoryState, LimitClock, StateInformationMiddleware>,
    /// After a refusal: when the next call can pass.
    empty_until: Option<Duration>,
}

/// One bucket per address.
pub struct AddressLimit {
    clock: LimitClock,
    policy: Policy,
    buckets: Mutex<LruCache<CallerAddress, Bucket>>,
}

impl AddressLimit {
    pub fn new(policy: Policy, clock: Clock) -> Self {
        let buckets = Mutex::new(LruCache::new(ADDRESSES_MAX));
        Self { clock: LimitClock::new(clock), policy, buckets }
    }

    /// Takes one call from the address's bucket.
    ///
    /// # Errors
    /// When the bucket is empty. A refused call takes nothing.
    pub fn charge(&self, address: CallerAddress) -> Result<Standing, Exceeded> {
        let (policy, quota) = (self.policy, self.quota());
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.get_or_insert_mut(address, || Bucket {
            limiter: RateLimiter::direct_with_clock(quota, self.clock.clone()).with_middleware(),
            empty_until: None,
        });
        match bucket.limiter.check() {
            Ok(state) => {
                bucket.empty_until = None;
                let remaining = state.remaining_burst_capacity();
                let used = u64::from(policy.burst.get().saturating_sub(remaining));
                Ok(Standing {
                    policy,
                    remaining,
                    resets_in_s: used.div_ceil(u64::from(policy.per_second.get())),
                })
            }
            Err(until) => {
                bucket.empty_until = Some(until.earliest_possible());
                let wait = until.wait_time_from(self.clock.now());
                let resets_in_s = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                Err(Exceeded(Standing { policy, remaining: 0, resets_in_s: resets_in_s.max(1) }))
            }
        }
    }

    /// Whether the last call of this address was refused and the next one would be too.
    pub fn is_empty(&self, address: CallerAddress) -> bool {
        let buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let until = buckets.peek(&address).and_then(|bucket| bucket.empty_until);
        until.is_some_and(|until| self.clock.now() < until)
    }

    fn quota(&self) -> Quota {
        Quota::per_second(self.policy.per_second).allow_burst(self.policy.burst)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use chrono::{DateTime, TimeDelta};

    const POLICY: Policy = Policy {
        name: "tracking",
        per_second: NonZeroU32::new(10).unwrap(),
        burst: NonZeroU32::new(100).unwrap(),
    };

    fn limit() -> (Clock, AddressLimit) {
        let clock = Clock::manual(DateTime::UNIX_EPOCH);
        (clock.clone(), AddressLimit::new(POLICY, clock))
    }

    fn address(text: &str) -> CallerAddress {
        CallerAddress::new(text.parse().unwrap())
    }

    #[test]
    fn an_address_may_burst_and_then_call_at_the_rate() {
        let (clock, limit) = limit();
        let one = address("192.0.2.1");
        for left in (0..100).rev() {
            assert_eq!(limit.charge(one).unwrap().remaining, left);
        }
        let refused = limit.charge(one).unwrap_err().0;
        assert_eq!((refused.header().as_str(), refused.resets_in_s), ("\"tracking\";r=0;t=1", 1));
        assert!(limit.is_empty(one) && !limit.is_empty(address("192.0.2.2")));
        assert!(limit.charge(address("192.0.2.2")).is_ok());
        clock.advance(TimeDelta::milliseconds(100));
        assert!(!limit.is_empty(one));
        assert!(limit.charge(one).is_ok());
        assert!(limit.charge(one).is_err());
    }

    #[test]
    fn memory_is_bounded() {
        let (_, limit) = limit();
        for bits in 0..100_000_u32 {
            limit.charge(CallerAddress::new(std::net::IpAddr::V4(bits.into()))).unwrap();
        }
        assert_eq!(limit.buckets.into_inner().unwrap().len(), ADDRESSES_MAX.get());
    }
}
