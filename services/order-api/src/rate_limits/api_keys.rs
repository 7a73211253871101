//! How many calls an API key may make (SPECIFICATION §8): per key and per replica, by the generic cell rate
//! algorithm, a form of the leaky bucket. Memory holds one small entry per recently used key.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::{ApiKeyId, Clock};
use governor::clock::Clock as _;
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use web::{Exceeded, LimitClock, Policy, Standing};

/// The replay bucket of a key is this many times as large as its request bucket.
const REPLAYS_FACTOR: NonZeroU32 = NonZeroU32::new(4).unwrap();
const BURST_SECONDS: NonZeroU32 = NonZeroU32::new(4).unwrap();

/// What one API key may call.
#[derive(Clone, Copy, Debug)]
pub struct KeyRate {
    /// Sustained.
    pub per_second: NonZeroU32,
    /// At once, after a pause.
    pub burst: NonZeroU32,
}

impl KeyRate {
    pub const DEFAULT_PER_SECOND: NonZeroU32 = NonZeroU32::new(50).unwrap();

    /// With a burst of four seconds' worth unless one is given.
    pub fn new(per_second: NonZeroU32, burst: Option<NonZeroU32>) -> Self {
        Self { per_second, burst: burst.unwrap_or_else(|| per_second.saturating_mul(BURST_SECONDS)) }
    }
}

impl Default for KeyRate {
    fn default() -> Self {
        Self::new(Self::DEFAULT_PER_SECOND, None)
    }
}

/// The buckets of all keys.
///
/// A creation turns out to be a replay only after its body was read and the order with its key was found. Each creation
/// is therefore charged to the replay bucket first, which bounds the cost of reading, and to the request bucket too.
/// The request bucket is refunded when the creation was a replay. So replays do not use up the quota of new orders, and
/// new orders fill at most a quarter of the replay bucket.
pub struct RateLimits {
    pub requests: Bucket,
    pub replays: Bucket,
}

/// One limit, applied to each key.
pub struct Bucket {
    policy: Policy,
    clock: LimitClock,
    limiter: RateLimiter<ApiKeyId, HashMapStateStore<ApiKeyId>, LimitClock, StateInformationMiddleware>,
    refunds: Mutex<HashMap<ApiKeyId, u32>>,
}

impl RateLimits {
    pub fn new(rate: KeyRate, clock: Clock) -> Self {
        let clock = LimitClock::new(clock);
        let KeyRate { per_second, burst } = rate;
        let requests = Policy { name: "default", per_second, burst };
        let replays = Policy {
            name: "replay",
            per_second: per_second.saturating_mul(REPLAYS_FACTOR),
            burst: burst.saturating_mul(REPLAYS_FACTOR),
        };
        Self { requests: Bucket::new(requests, clock.clone()), replays: Bucket::new(replays, clock) }
    }

    /// Removes the entries of keys whose buckets are full again.
    pub fn remove_idle_keys(&self) {
        for bucket in [&self.requests, &self.replays] {
            bucket.remove_idle_keys();
        }
    }
}

impl Bucket {
    fn new(policy: Policy, clock: LimitClock) -> Self {
        let quota = Quota::per_second(policy.per_second).allow_burst(policy.burst);
        let limiter = RateLimiter::hashmap_with_clock(quota, clock.clone()).with_middleware();
        Self { policy, clock, limiter, refunds: Mutex::default() }
    }

    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Charges one call to the key.
    ///
    /// # Errors
    /// When the bucket is empty. The call is not charged then.
    pub fn charge(&self, key: ApiKeyId) -> Result<Standing, Exceeded> {
        let policy = self.policy;
        match self.limiter.check_key(&key) {
            Ok(state) => {
                let remaining = state.remaining_burst_capacity();
                let used = u64::from(policy.burst.get().saturating_sub(remaining));
                let resets_in_s = used.div_ceil(u64::from(policy.per_second.get()));
                Ok(Standing { policy, remaining, resets_in_s })
            }
            Err(until) => {
                let wait = until.wait_time_from(self.clock.now());
                let resets_in_s = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                let empty = Standing { policy, remaining: 0, resets_in_s: resets_in_s.max(1) };
                if self.take_refund(key) { Ok(empty) } else { Err(Exceeded(empty)) }
            }
        }
    }

    /// Undoes a charge. The limiter cannot refill a bucket, so refunds are counted separately and used when the bucket
    /// is empty.
    pub fn refund(&self, key: ApiKeyId) {
        let mut refunds = self.refunds();
        let calls = refunds.entry(key).or_default();
        *calls = calls.saturating_add(1).min(self.policy.burst.get());
    }

    fn take_refund(&self, key: ApiKeyId) -> bool {
        let mut refunds = self.refunds();
        let Some(calls) = refunds.get_mut(&key) else { return false };
        *calls -= 1;
        if *calls == 0 {
            refunds.remove(&key);
        }
        true
    }

    fn remove_idle_keys(&self) {
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
        // Meanwhile the buckets have refilled by more than the refunds.
        self.refunds().clear();
    }

    fn refunds(&self) -> MutexGuard<'_, HashMap<ApiKeyId, u32>> {
        self.refunds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{DateTime, TimeDelta};
    use domain::Entropy;

    fn limits(per_second: u32) -> (Clock, RateLimits) {
        let clock = Clock::manual(DateTime::UNIX_EPOCH);
        let requests_per_second = NonZeroU32::new(per_second).unwrap();
        (clock.clone(), RateLimits::new(KeyRate::new(requests_per_second, None), clock))
    }

    fn key(seed: u64) -> ApiKeyId {
        ApiKeyId::generate(&Clock::manual(DateTime::UNIX_EPOCH), &Entropy::seeded(seed))
    }

    #[test]
    fn a_key_may_burst_then_call_at_the_rate() {
        let (clock, limits) = limits(50);
        let requests = &limits.requests;
        assert_eq!(requests.policy().header(), "\"default\";q=200;w=4");
        assert_eq!(requests.charge(key(1)).unwrap().header(), "\"default\";r=199;t=1");
        for _ in 1..199 {
            requests.charge(key(1)).unwrap();
        }
        assert_eq!(requests.charge(key(1)).unwrap().header(), "\"default\";r=0;t=4");
        assert_eq!(requests.charge(key(1)).unwrap_err().0.header(), "\"default\";r=0;t=1");
        assert!(requests.charge(key(2)).is_ok(), "another key has its own bucket");
        clock.advance(TimeDelta::milliseconds(20));
        assert!(requests.charge(key(1)).is_ok());
        assert!(requests.charge(key(1)).is_err());
        clock.advance(TimeDelta::seconds(4));
        assert_eq!(requests.charge(key(1)).unwrap().remaining, 199);
    }

    #[test]
    fn replays_have_a_bucket_of_their_own() {
        let (_, limits) = limits(1);
        for _ in 0..16 {
            limits.replays.charge(key(1)).unwrap();
        }
        assert_eq!(limits.replays.charge(key(1)).unwrap_err().0.policy.header(), "\"replay\";q=16;w=4");
        assert_eq!(limits.requests.charge(key(1)).unwrap().remaining, 3);
    }

    #[test]
    fn a_refund_can_be_used_once() {
        let (_, limits) = limits(1);
        let requests = &limits.requests;
        for _ in 0..4 {
            requests.charge(key(1)).unwrap();
        }
        requests.refund(key(1));
        assert!(requests.charge(key(2)).is_ok(), "another key's bucket is its own");
        assert_eq!(requests.charge(key(1)).unwrap().remaining, 0);
        assert!(requests.charge(key(1)).is_err());
    }

    #[test]
    fn idle_keys_are_removed() {
        let (clock, limits) = limits(50);
        for seed in 0..1_000 {
            limits.requests.charge(key(seed)).unwrap();
        }
        limits.remove_idle_keys();
        assert_eq!(limits.requests.limiter.len(), 1_000);
        clock.advance(TimeDelta::seconds(5));
        limits.requests.charge(key(1)).unwrap();
        limits.remove_idle_keys();
        assert_eq!(limits.requests.limiter.len(), 1);
    }
}
