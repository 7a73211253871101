//! How much this process sends to each endpoint: concurrent webhooks, adapted to its responses, and webhooks per
//! second.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::EndpointId;
use tokio::time::Instant;

use crate::store::Load;

/// For an endpoint without history. One that hangs occupies no more slots than these.
const INITIAL_SLOTS: i64 = 8;
/// Slower endpoints get no additional slots: each attempt would occupy its slot for that long.
const SLOW_MS: i64 = 1_000;
/// The history of an idle endpoint is dropped after this time.
const IDLE_MAX: Duration = Duration::from_secs(600);

/// The history of all endpoints that receive webhooks. Clones share it.
#[derive(Clone)]
pub(crate) struct Loads {
    per_second: u32,
    slots_max: i64,
    endpoints: Arc<Mutex<HashMap<EndpointId, History>>>,
}

#[derive(Clone, Copy, Debug)]
struct History {
    bucket: Bucket,
    /// Concurrent attempts: one more with each success, half as many with each failure. Slow successes reduce it to the
    /// initial number.
    slots: i64,
}

/// A token bucket with the capacity of one second.
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
        #[expect(clippy::cast_possible_truncation, reason = "a float between -u32::MAX and u32::MAX")]
        let whole = self.tokens.floor() as i64;
        whole.max(0)
    }
}

impl Loads {
    /// `per_second` applies to endpoints without a limit of their own; `slots_max` to all.
    pub(crate) fn new(per_second: u32, slots_max: i64) -> Self {
        Self { per_second, slots_max, endpoints: Arc::default() }
    }

    pub(crate) fn per_second(&self) -> i64 {
        self.per_second.into()
    }

    /// For endpoints without history.
    pub(crate) fn initial_slots(&self) -> i64 {
        INITIAL_SLOTS.min(self.slots_max)
    }

    /// Concurrent attempts that the endpoint may have.
    pub(crate) fn slots(&self, endpoint: EndpointId) -> i64 {
        self.lock().get(&endpoint).map_or_else(|| self.initial_slots(), |known| known.slots)
    }

    /// The load of each endpoint that has a history or attempts in flight.
    pub(crate) fn snapshot(&self, in_flight: &[(EndpointId, i64)], now: Instant) -> Vec<(EndpointId, Load)> {
        let mut endpoints = self.lock();
        let idle = |known: &History| now.saturating_duration_since(known.bucket.filled_at);
        endpoints.retain(|_, known| idle(known) < IDLE_MAX);
        let mut loads: HashMap<EndpointId, Load> = endpoints
            .iter()
            .map(|(endpoint, known)| {
                let mut bucket = known.bucket;
                bucket.refill(now);
                (*endpoint, Load { in_flight: 0, allowed: known.slots.min(bucket.whole_tokens()) })
            })
            .collect();
        for (endpoint, count) in in_flight {
            let slots = endpoints.get(endpoint).map_or_else(|| self.initial_slots(), |known| known.slots);
            let load = loads.entry(*endpoint).or_insert(Load { in_flight: 0, allowed: slots });
            load.in_flight = *count;
            load.allowed = load.allowed.min((slots - count).max(0));
        }
        loads.into_iter().collect()
    }

    /// Counts webhooks that are sent now, each with its endpoint's own limit.
    pub(crate) fn count_sent(&self, sent: impl Iterator<Item = (EndpointId, Option<i32>)>, now: Instant) {
        let mut endpoints = self.lock();
        for (endpoint, limit) in sent {
            let rate = limit.map_or(f64::from(self.per_second), f64::from);
            let known = endpoints.entry(endpoint).or_insert_with(|| History {
                bucket: Bucket { rate, tokens: rate, filled_at: now },
                slots: self.initial_slots(),
            });
            if known.bucket.rate.total_cmp(&rate).is_ne() {
                known.bucket = Bucket { rate, tokens: known.bucket.tokens.min(rate), ..known.bucket };
            }
            known.bucket.refill(now);
            known.bucket.tokens -= 1.0;
        }
    }

    /// Adapts the endpoint's slots to the result of an attempt.
    pub(crate) fn record_result(&self, endpoint: EndpointId, succeeded: bool, took_ms: i64) {
        if let Some(known) = self.lock().get_mut(&endpoint) {
            let slots = match succeeded {
                true if took_ms < SLOW_MS => known.slots + 1,
                true => (known.slots / 2).max(known.slots.min(self.initial_slots())),
                false => known.slots / 2,
            };
            known.slots = slots.clamp(1, self.slots_max);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EndpointId, History>> {
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
    fn a_burst_of_one_second_is_allowed_and_then_the_rate() {
        let (endpoint, loads, start) = (endpoint(), Loads::new(1_000, 64), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let allowed = |milliseconds| {
            let known = loads.snapshot(&[], at(milliseconds));
            known.into_iter().find(|(id, _)| *id == endpoint).map(|(_, load)| load.allowed)
        };
        let spend = |count, milliseconds| {
            loads.count_sent(std::iter::repeat_n((endpoint, Some(5)), count), at(milliseconds));
        };
        assert_eq!(allowed(0), None, "it has no history");
        spend(5, 0);
        assert_eq!((allowed(0), allowed(199), allowed(450)), (Some(0), Some(0), Some(2)));
        spend(2, 450);
        assert_eq!((allowed(450), allowed(650), allowed(5_000)), (Some(0), Some(1), Some(5)));
        assert_eq!(allowed(700_000), None, "its history is dropped");
    }

    #[test]
    fn slots_grow_with_success_and_shrink_with_failure() {
        let (endpoint, loads, now) = (endpoint(), Loads::new(1_000, 12), Instant::now());
        loads.record_result(endpoint, true, 1);
        assert_eq!(loads.slots(endpoint), 8, "no webhook was sent yet");
        loads.count_sent([(endpoint, None)].into_iter(), now);
        let slots: Vec<_> = [true, true, true, true, true, false, false, false, false, true]
            .into_iter()
            .map(|succeeded| {
                loads.record_result(endpoint, succeeded, 999);
                loads.slots(endpoint)
            })
            .collect();
        assert_eq!(slots, [9, 10, 11, 12, 12, 6, 3, 1, 1, 2]);
    }

    #[test]
    fn slow_responses_reduce_the_slots_to_the_initial_number() {
        let (endpoint, loads, now) = (endpoint(), Loads::new(1_000, 64), Instant::now());
        loads.count_sent([(endpoint, None)].into_iter(), now);
        let after = |succeeded, took_ms| {
            loads.record_result(endpoint, succeeded, took_ms);
            loads.slots(endpoint)
        };
        assert_eq!((after(true, 9_000), after(true, SLOW_MS)), (8, 8));
        (0..20).for_each(|_| loads.record_result(endpoint, true, 10));
        assert_eq!((after(true, 9_000), after(true, 9_000), after(true, 9_000)), (14, 8, 8));
        assert_eq!((after(false, 10_000), after(true, 9_000), after(true, 10)), (4, 4, 5));
    }

    #[test]
    fn attempts_in_flight_occupy_slots() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (one, other) = (EndpointId::generate(&clock, &entropy), EndpointId::generate(&clock, &entropy));
        let (loads, now) = (Loads::new(100, 64), Instant::now());
        loads.count_sent([(one, None), (one, Some(5))].into_iter(), now);
        let mut known = loads.snapshot(&[(one, 2), (other, 9)], now);
        known.sort_by_key(|(_, load)| load.in_flight);
        let expected = [(one, Load { in_flight: 2, allowed: 4 }), (other, Load { in_flight: 9, allowed: 0 })];
        assert_eq!(known, expected);
    }
}
