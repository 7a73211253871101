//! How much each endpoint is sent by this process: how many webhooks at a time, found out by how it answers, and how many
//! per second.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::EndpointId;
use tokio::time::Instant;

use crate::store::Load;

/// Where an endpoint begins that nothing is known of. One that hangs holds no more places than this.
const PLACES_FIRST: i64 = 8;
/// One that takes longer to answer gets no more places: it would hold them for the whole of that time.
const SLOW_MS: i64 = 1_000;
/// What is known of an endpoint that is not sent to any more is forgotten after this time.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);

/// What is known of the endpoints that are sent to. Clones share it.
#[derive(Clone)]
pub(crate) struct Loads {
    per_second: u32,
    places_max: i64,
    endpoints: Arc<Mutex<HashMap<EndpointId, Known>>>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    bucket: Bucket,
    /// How many it may have under way: one more with each success, half as many with each failure. Slow successes take
    /// back what quick ones gave.
    places: i64,
}

/// Holds the webhooks of one second.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    rate: f64,
    tokens: f64,
    filled_at: Instant,
}

impl Bucket {
    fn refill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.filled_at);
        self.tokens = (self.tokens + passed.as_secs_f64() * self.rate).min(self.rate);
        self.filled_at = now;
    }

    fn whole_tokens(&self) -> i64 {
        // Never more than the rate, which is a u32.
        #[expect(clippy::cast_possible_truncation, reason = "a float between -u32::MAX and u32::MAX")]
        let whole = self.tokens.floor() as i64;
        whole.max(0)
    }
}

impl Loads {
    /// `per_second` is for endpoints without a limit of their own; no endpoint has more under way than `places_max`.
    pub(crate) fn new(per_second: u32, places_max: i64) -> Self {
        Self { per_second, places_max, endpoints: Arc::default() }
    }

    pub(crate) fn per_second(&self) -> i64 {
        self.per_second.into()
    }

    /// How many an endpoint may have under way that nothing is known of.
    pub(crate) fn places_first(&self) -> i64 {
        PLACES_FIRST.min(self.places_max)
    }

    /// How many this endpoint may have under way.
    pub(crate) fn places(&self, endpoint: EndpointId) -> i64 {
        self.lock().get(&endpoint).map_or_else(|| self.places_first(), |known| known.places)
    }

    /// How many more each endpoint may be sent, as far as something is known of it.
    pub(crate) fn of(&self, under_way: &[(EndpointId, i64)], now: Instant) -> Vec<(EndpointId, Load)> {
        let mut endpoints = self.lock();
        let idle = |known: &Known| now.saturating_duration_since(known.bucket.filled_at);
        endpoints.retain(|_, known| idle(known) < FORGOTTEN_AFTER);
        let mut loads: HashMap<EndpointId, Load> = endpoints
            .iter()
            .map(|(endpoint, known)| {
                let mut bucket = known.bucket;
                bucket.refill(now);
                (*endpoint, Load { under_way: 0, allowed: known.places.min(bucket.whole_tokens()) })
            })
            .collect();
        for (endpoint, count) in under_way {
            let places = endpoints.get(endpoint).map_or_else(|| self.places_first(), |known| known.places);
            let load = loads.entry(*endpoint).or_insert(Load { under_way: 0, allowed: places });
            load.under_way = *count;
            load.allowed = load.allowed.min((places - count).max(0));
        }
        loads.into_iter().collect()
    }

    /// Counts what is sent now, each with its endpoint's own limit.
    pub(crate) fn spend(&self, sent: impl Iterator<Item = (EndpointId, Option<i32>)>, now: Instant) {
        let mut endpoints = self.lock();
        for (endpoint, limit) in sent {
            let rate = limit.map_or(f64::from(self.per_second), f64::from);
            let known = endpoints.entry(endpoint).or_insert_with(|| Known {
                bucket: Bucket { rate, tokens: rate, filled_at: now },
                places: self.places_first(),
            });
            if known.bucket.rate.total_cmp(&rate).is_ne() {
                known.bucket = Bucket { rate, tokens: known.bucket.tokens.min(rate), ..known.bucket };
            }
            known.bucket.refill(now);
            known.bucket.tokens -= 1.0;
        }
    }

    /// Learns from an answer, or its want.
    pub(crate) fn learn(&self, endpoint: EndpointId, succeeded: bool, took_ms: i64) {
        if let Some(known) = self.lock().get_mut(&endpoint) {
            let places = match succeeded {
                true if took_ms < SLOW_MS => known.places + 1,
                true => (known.places / 2).max(known.places.min(self.places_first())),
                false => known.places / 2,
            };
            known.places = places.clamp(1, self.places_max);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EndpointId, Known>> {
        self.endpoints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    fn endpoint() -> EndpointId {
        EndpointId::generate(&Clock::system(), &Entropy::seeded(1))
    }

    #[test]
    fn a_second_s_worth_may_go_at_once_and_then_as_many_as_time_allows() {
        let (endpoint, loads, start) = (endpoint(), Loads::new(1_000, 64), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let allowed = |milliseconds| {
            let known = loads.of(&[], at(milliseconds));
            known.into_iter().find(|(id, _)| *id == endpoint).map(|(_, load)| load.allowed)
        };
        let spend = |count, milliseconds| {
            loads.spend(std::iter::repeat_n((endpoint, Some(5)), count), at(milliseconds));
        };
        assert_eq!(allowed(0), None, "nothing is known of it");
        spend(5, 0);
        assert_eq!((allowed(0), allowed(199), allowed(450)), (Some(0), Some(0), Some(2)));
        spend(2, 450);
        assert_eq!((allowed(450), allowed(650), allowed(5_000)), (Some(0), Some(1), Some(5)));
        assert_eq!(allowed(700_000), None, "it is forgotten in the end");
    }

    #[test]
    fn places_grow_with_success_and_shrink_with_failure() {
        let (endpoint, loads, now) = (endpoint(), Loads::new(1_000, 12), Instant::now());
        loads.learn(endpoint, true, 1);
        assert_eq!(loads.places(endpoint), 8, "nothing was sent yet");
        loads.spend([(endpoint, None)].into_iter(), now);
        let places: Vec<_> = [true, true, true, true, true, false, false, false, false, true]
            .into_iter()
            .map(|succeeded| {
                loads.learn(endpoint, succeeded, 999);
                loads.places(endpoint)
            })
            .collect();
        assert_eq!(places, [9, 10, 11, 12, 12, 6, 3, 1, 1, 2]);
    }

    #[test]
    fn slow_answers_give_no_more_places_than_one_begins_with() {
        let (endpoint, loads, now) = (endpoint(), Loads::new(1_000, 64), Instant::now());
        loads.spend([(endpoint, None)].into_iter(), now);
        let after = |succeeded, took_ms| {
            loads.learn(endpoint, succeeded, took_ms);
            loads.places(endpoint)
        };
        assert_eq!((after(true, 9_000), after(true, SLOW_MS)), (8, 8));
        (0..20).for_each(|_| loads.learn(endpoint, true, 10));
        assert_eq!((after(true, 9_000), after(true, 9_000), after(true, 9_000)), (14, 8, 8));
        assert_eq!((after(false, 10_000), after(true, 9_000), after(true, 10)), (4, 4, 5));
    }

    #[test]
    fn what_is_under_way_takes_places() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (one, other) = (EndpointId::generate(&clock, &entropy), EndpointId::generate(&clock, &entropy));
        let (loads, now) = (Loads::new(100, 64), Instant::now());
        loads.spend([(one, None), (one, Some(5))].into_iter(), now);
        let mut known = loads.of(&[(one, 2), (other, 9)], now);
        known.sort_by_key(|(_, load)| load.under_way);
        let expected = [(one, Load { under_way: 2, allowed: 4 }), (other, Load { under_way: 9, allowed: 0 })];
        assert_eq!(known, expected);
    }
}
