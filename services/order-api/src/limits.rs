//! How many calls an API key may make (SPECIFICATION §12, limits): per key and per replica, by the generic cell rate
//! algorithm, which is a leaking bucket. Memory holds one small entry for each key that called of late.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::{ApiKeyId, Clock};
use governor::clock::Clock as _;
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use tokio_util::sync::CancellationToken;
use web::{Exceeded, LimitClock, Policy, Standing};

use crate::settings::Limits;

/// A key's replays have a bucket this many times as large as that of its requests.
const REPLAYS_FACTOR: NonZeroU32 = NonZeroU32::new(4).unwrap();
/// How often the keys that have been quiet are forgotten.
const FORGET_EVERY: Duration = Duration::from_secs(60);

/// The buckets of all keys.
///
/// Whether a creation is a replay is known only once its body was read and it met the order that holds its key. So every
/// creation is charged to the replays before that, which bounds what reading can cost, and to the requests as well, which
/// are given back to what turns out to be a replay. A replay thus never uses up what new orders need, nor do new orders
/// starve replays: they fill a quarter of that bucket at most.
pub struct RateLimits {
    pub requests: Bucket,
    pub replays: Bucket,
}

/// One limit, applied to each key.
pub struct Bucket {
    policy: Policy,
    clock: LimitClock,
    limiter: RateLimiter<ApiKeyId, HashMapStateStore<ApiKeyId>, LimitClock, StateInformationMiddleware>,
    given_back: Mutex<HashMap<ApiKeyId, u32>>,
}

impl RateLimits {
    pub fn new(limits: &Limits, clock: Clock) -> Self {
        let clock = LimitClock::new(clock);
        let (per_second, burst) = (limits.requests_per_second, limits.burst());
        let requests = Policy { name: "default", per_second, burst };
        let replays = Policy {
            name: "replay",
            per_second: per_second.saturating_mul(REPLAYS_FACTOR),
            burst: burst.saturating_mul(REPLAYS_FACTOR),
        };
        Self { requests: Bucket::new(requests, clock.clone()), replays: Bucket::new(replays, clock) }
    }

    /// Forgets the keys whose buckets are whole again: as good as never seen.
    pub fn forget_quiet_keys(&self) {
        for bucket in [&self.requests, &self.replays] {
            bucket.forget_quiet_keys();
        }
    }
}

/// Keeps the memory of the limits small, until stopped.
pub async fn forget_quiet_keys(limits: Arc<RateLimits>, stop: CancellationToken) {
    while stop.run_until_cancelled(tokio::time::sleep(FORGET_EVERY)).await.is_some() {
        limits.forget_quiet_keys();
    }
}

impl Bucket {
    fn new(policy: Policy, clock: LimitClock) -> Self {
        let quota = Quota::per_second(policy.per_second).allow_burst(policy.burst);
        let limiter = RateLimiter::hashmap_with_clock(quota, clock.clone()).with_middleware();
        Self { policy, clock, limiter, given_back: Mutex::default() }
    }

    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Takes one call out of the key's bucket.
    ///
    /// # Errors
    /// When it is empty; nothing is taken then.
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
                if self.take_given_back(key) { Ok(empty) } else { Err(Exceeded(empty)) }
            }
        }
    }

    /// Undoes a charge: the call it was made for turned out not to count here. The bucket itself cannot be refilled, so
    /// the call is noted beside it, for when the bucket is empty.
    pub fn give_back(&self, key: ApiKeyId) {
        let mut given_back = self.given_back();
        let calls = given_back.entry(key).or_default();
        *calls = calls.saturating_add(1).min(self.policy.burst.get());
    }

    fn take_given_back(&self, key: ApiKeyId) -> bool {
        let mut given_back = self.given_back();
        let Some(calls) = given_back.get_mut(&key) else { return false };
        *calls -= 1;
        if *calls == 0 {
            given_back.remove(&key);
        }
        true
    }

    fn forget_quiet_keys(&self) {
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
        // By now the buckets have refilled themselves with what was given back.
        self.given_back().clear();
    }

    fn given_back(&self) -> MutexGuard<'_, HashMap<ApiKeyId, u32>> {
        self.given_back.lock().unwrap_or_else(PoisonError::into_inner)
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
        let limits = Limits { requests_per_second, ..Limits::default() };
        (clock.clone(), RateLimits::new(&limits, clock))
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
    fn what_is_given_back_can_be_used_once() {
        let (_, limits) = limits(1);
        let requests = &limits.requests;
        for _ in 0..4 {
            requests.charge(key(1)).unwrap();
        }
        requests.give_back(key(1));
        assert!(requests.charge(key(2)).is_ok(), "another key's bucket is its own");
        assert_eq!(requests.charge(key(1)).unwrap().remaining, 0);
        assert!(requests.charge(key(1)).is_err());
    }

    #[test]
    fn keys_that_are_quiet_are_forgotten() {
        let (clock, limits) = limits(50);
        for seed in 0..1_000 {
            limits.requests.charge(key(seed)).unwrap();
        }
        limits.forget_quiet_keys();
        assert_eq!(limits.requests.limiter.len(), 1_000);
        clock.advance(TimeDelta::seconds(5));
        limits.requests.charge(key(1)).unwrap();
        limits.forget_quiet_keys();
        assert_eq!(limits.requests.limiter.len(), 1);
    }
}
