//! How many webhooks per second each endpoint is sent, at most, by this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::EndpointId;
use tokio::time::Instant;

use crate::store::Load;

/// Token buckets that hold the webhooks of one second. Clones share them.
#[derive(Clone)]
pub(crate) struct Loads {
    per_second: u32,
    buckets: Arc<Mutex<HashMap<EndpointId, Bucket>>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    rate: f64,
    tokens: f64,
    filled_at: Instant,
}

impl Bucket {
    fn full(rate: f64, now: Instant) -> Self {
        Self { rate, tokens: rate, filled_at: now }
    }

    fn refill(&mut self, now: Instant) {
        let passed: Duration = now.saturating_duration_since(self.filled_at);
        self.tokens = (self.tokens + passed.as_secs_f64() * self.rate).min(self.rate);
        self.filled_at = now;
    }

    fn is_full(&self) -> bool {
        self.tokens >= self.rate
    }

    fn whole_tokens(&self) -> i64 {
        // Never more than the rate, which is a u32.
        #[expect(clippy::cast_possible_truncation, reason = "a float between -u32::MAX and u32::MAX")]
        let whole = self.tokens.floor() as i64;
        whole.max(0)
    }
}

impl Loads {
    /// `per_second` is for endpoints without a limit of their own.
    pub(crate) fn new(per_second: u32) -> Self {
        Self { per_second, buckets: Arc::default() }
    }

    pub(crate) fn per_second(&self) -> i64 {
        self.per_second.into()
    }

    /// What is known of endpoints that are being sent to or lately were; the others are free.
    pub(crate) fn of(&self, under_way: &[(EndpointId, i64)], now: Instant) -> Vec<(EndpointId, Load)> {
        let mut buckets = self.lock();
        buckets.retain(|_, bucket| {
            bucket.refill(now);
            !bucket.is_full()
        });
        let lately = buckets
            .iter()
            .map(|(endpoint, bucket)| (*endpoint, Load { under_way: 0, allowed: bucket.whole_tokens() }));
        let mut loads: HashMap<EndpointId, Load> = lately.collect();
        for (endpoint, count) in under_way {
            let load = loads.entry(*endpoint).or_insert(Load { under_way: 0, allowed: self.per_second() });
            load.under_way = *count;
        }
        loads.into_iter().collect()
    }

    /// Counts what is sent now, each with its endpoint's own limit.
    pub(crate) fn spend(&self, sent: impl Iterator<Item = (EndpointId, Option<i32>)>, now: Instant) {
        let mut buckets = self.lock();
        for (endpoint, limit) in sent {
            let rate = limit.map_or(f64::from(self.per_second), f64::from);
            let bucket = buckets.entry(endpoint).or_insert_with(|| Bucket::full(rate, now));
            if bucket.rate.total_cmp(&rate).is_ne() {
                *bucket = Bucket { rate, tokens: bucket.tokens.min(rate), ..*bucket };
            }
            bucket.tokens -= 1.0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EndpointId, Bucket>> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    #[test]
    fn a_second_s_worth_may_go_at_once_and_then_as_many_as_time_allows() {
        let endpoint = EndpointId::generate(&Clock::system(), &Entropy::seeded(1));
        let (loads, start) = (Loads::new(1_000), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let allowed = |milliseconds| {
            let known = loads.of(&[], at(milliseconds));
            known.into_iter().find(|(id, _)| *id == endpoint).map(|(_, load)| load.allowed)
        };
        let spend = |count, milliseconds| {
            loads.spend(std::iter::repeat_n((endpoint, Some(10)), count), at(milliseconds));
        };
        assert_eq!(allowed(0), None, "nothing is known of it");
        spend(10, 0);
        assert_eq!((allowed(0), allowed(99), allowed(250)), (Some(0), Some(0), Some(2)));
        spend(2, 250);
        assert_eq!((allowed(250), allowed(350)), (Some(0), Some(1)));
        assert_eq!(allowed(2_000), None, "it is forgotten when it may be sent a full second's worth again");
    }

    #[test]
    fn a_limit_may_change_and_what_is_under_way_is_told_apart() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (one, other) = (EndpointId::generate(&clock, &entropy), EndpointId::generate(&clock, &entropy));
        let (loads, now) = (Loads::new(100), Instant::now());
        loads.spend([(one, None), (one, Some(5))].into_iter(), now);
        let mut known = loads.of(&[(one, 2), (other, 1)], now);
        known.sort_by_key(|(_, load)| load.allowed);
        let expected =
            [(one, Load { under_way: 2, allowed: 4 }), (other, Load { under_way: 1, allowed: 100 })];
        assert_eq!(known, expected);
    }
}
