//! How much this process sends to each endpoint: concurrent webhooks, adapted to its responses, and webhooks per
//! second.

use std::collections::HashMap;
use std::time::Duration;

use domain::EndpointId;
use tokio::time::Instant;

use super::in_flight::Occupied;
use crate::domain::Speed;

/// For an endpoint without history. One that hangs occupies no more slots than these.
const INITIAL_SLOTS: i64 = 8;
/// Slower endpoints get no additional slots: each attempt would occupy its slot for that long.
const SLOW_MS: i64 = 1_000;
/// An endpoint that responds within this time is quick.
const QUICK_MS: i64 = 100;
/// While a rate limit is reached, claims of the endpoint are at least this long apart.
const TOKENS_GATHER: Duration = Duration::from_millis(20);
/// Claims leave slots to new webhooks for this long after the latest one.
const NEW_EXPECTED: Duration = Duration::from_millis(250);
/// The history of an idle endpoint is dropped after this time.
const IDLE_MAX: Duration = Duration::from_secs(600);

/// The history of all endpoints that receive webhooks.
pub(super) struct Loads {
    per_second: u32,
    /// How many instances share the rate limits.
    instances: u32,
    slots_max: i64,
    endpoints: HashMap<EndpointId, History>,
}

#[derive(Clone, Copy, Debug)]
struct History {
    bucket: Bucket,
    /// How long the latest attempt took. None before the first one has ended.
    latest_ms: Option<i64>,
    /// Concurrent attempts: one more with each success, half as many with each failure. Slow successes reduce it to the
    /// initial number.
    slots: i64,
    /// When a new webhook last needed a slot.
    new_at: Option<Instant>,
}

/// A token bucket with the capacity of one second, but at least one token.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Per second, for all instances together.
    limit: f64,
    tokens: f64,
    filled_at: Instant,
}

impl Bucket {
    fn full(limit: f64, instances: u32, now: Instant) -> Self {
        Self { limit, tokens: (limit / f64::from(instances)).max(1.0), filled_at: now }
    }

    fn refill(&mut self, instances: u32, now: Instant) {
        let passed = now.saturating_duration_since(self.filled_at);
        let rate = self.limit / f64::from(instances);
        self.tokens = (self.tokens + passed.as_secs_f64() * rate).min(rate.max(1.0));
        self.filled_at = now;
    }

    fn whole_tokens(&self) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "a float between -u32::MAX and u32::MAX")]
        let whole = self.tokens.floor() as i64;
        whole.max(0)
    }

    /// Until the next token. Tokens are spent in groups: each claim costs a transaction.
    fn next_token(&self, instances: u32) -> Duration {
        let seconds = (1.0 - self.tokens).max(0.0) * f64::from(instances) / self.limit;
        Duration::from_secs_f64(seconds).max(TOKENS_GATHER)
    }
}

/// What an endpoint may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// All its slots are in use.
    Full,
    /// Its rate limit allows the next webhook at this time.
    Later(Instant),
    /// The free slots are kept for new webhooks until this time.
    Kept(Instant),
    For(i64),
}

impl Room {
    fn of_slots(free: i64) -> Self {
        if free > 0 { Self::For(free) } else { Self::Full }
    }
}

impl Loads {
    /// `per_second` applies to endpoints without a limit of their own, and to all instances together; `slots_max` to all
    /// endpoints.
    pub(super) fn new(per_second: u32, slots_max: i64) -> Self {
        Self { per_second, instances: 1, slots_max, endpoints: HashMap::new() }
    }

    pub(super) fn per_second(&self) -> i64 {
        self.per_second.into()
    }

    pub(super) fn instances(&self) -> i64 {
        self.instances.into()
    }

    /// That many instances share the rate limits from now on.
    pub(super) fn share(&mut self, instances: u32) {
        self.instances = instances.max(1);
    }

    /// For endpoints without history.
    pub(super) fn initial_slots(&self) -> i64 {
        INITIAL_SLOTS.min(self.slots_max)
    }

    /// Concurrent attempts that the endpoint may have.
    pub(super) fn slots(&self, endpoint: EndpointId) -> i64 {
        self.endpoints.get(&endpoint).map_or_else(|| self.initial_slots(), |known| known.slots)
    }

    /// The slots that new webhooks of the endpoint may use. The waiting ones get the rest.
    pub(super) fn slots_of_new(&self, endpoint: EndpointId) -> i64 {
        (self.slots(endpoint) / 2).max(1)
    }

    /// A new webhook of the endpoint needs a slot.
    pub(super) fn note_new(&mut self, endpoint: EndpointId, now: Instant) {
        if let Some(known) = self.endpoints.get_mut(&endpoint) {
            known.new_at = Some(now);
        }
    }

    /// How many more waiting webhooks the endpoint may get now. While new ones come, those keep their slots: a new webhook costs
    /// a fraction of a claimed one, so claims that took all slots would make more and more of them wait.
    pub(super) fn room(&self, endpoint: EndpointId, occupied: Occupied, now: Instant) -> Room {
        let Some(known) = self.endpoints.get(&endpoint) else {
            return Room::of_slots(self.initial_slots() - occupied.all);
        };
        let expected_until = known.new_at.map(|at| at + NEW_EXPECTED).filter(|until| *until > now);
        let free = known.slots - occupied.all;
        let kept = expected_until.map_or(0, |_| (known.slots / 2 - occupied.new).max(0));
        if let Some(until) = expected_until.filter(|_| free > 0 && free <= kept) {
            return Room::Kept(until);
        }
        let mut bucket = known.bucket;
        bucket.refill(self.instances, now);
        match (Room::of_slots(free - kept), bucket.whole_tokens()) {
            (Room::Full, _) => Room::Full,
            (_, 0) => Room::Later(now + bucket.next_token(self.instances)),
            (Room::For(slots), tokens) => Room::For(slots.min(tokens)),
            (later, _) => later,
        }
    }

    /// Drops the history of idle endpoints.
    pub(super) fn forget_idle(&mut self, now: Instant) {
        let idle = |known: &History| now.saturating_duration_since(known.bucket.filled_at);
        self.endpoints.retain(|_, known| idle(known) < IDLE_MAX);
    }

    /// Whether the endpoint responds quickly. One without history gets the chance to show it.
    pub(super) fn is_quick(&self, endpoint: EndpointId) -> bool {
        self.latest_ms(endpoint).is_none_or(|took| took < QUICK_MS)
    }

    pub(super) fn speed(&self, endpoint: EndpointId) -> Speed {
        match self.latest_ms(endpoint) {
            Some(took) if took < SLOW_MS => Speed::Prompt,
            _ => Speed::Uncertain,
        }
    }

    fn latest_ms(&self, endpoint: EndpointId) -> Option<i64> {
        self.endpoints.get(&endpoint)?.latest_ms
    }

    /// Counts a webhook that is about to be sent to an endpoint without a limit of its own. False if the operator's limit
    /// is reached.
    pub(super) fn take_token(&mut self, endpoint: EndpointId, now: Instant) -> bool {
        let bucket = &mut self.known(endpoint, f64::from(self.per_second), now).bucket;
        let is_free = bucket.whole_tokens() > 0;
        if is_free {
            bucket.tokens -= 1.0;
        }
        is_free
    }

    /// Counts a webhook that is sent now to an endpoint with this limit of its own.
    pub(super) fn count_sent(&mut self, endpoint: EndpointId, limit: Option<i32>, now: Instant) {
        let limit = limit.map_or(f64::from(self.per_second), f64::from);
        self.known(endpoint, limit, now).bucket.tokens -= 1.0;
    }

    /// A webhook that was counted is not sent.
    pub(super) fn give_back_token(&mut self, endpoint: EndpointId) {
        if let Some(known) = self.endpoints.get_mut(&endpoint) {
            known.bucket.tokens += 1.0;
        }
    }

    /// The history of an endpoint with this rate limit, and with the tokens that it has now.
    fn known(&mut self, endpoint: EndpointId, limit: f64, now: Instant) -> &mut History {
        let (slots, instances) = (self.initial_slots(), self.instances);
        let known = self.endpoints.entry(endpoint).or_insert_with(|| History {
            bucket: Bucket::full(limit, instances, now),
            latest_ms: None,
            slots,
            new_at: None,
        });
        known.bucket.limit = limit;
        known.bucket.refill(instances, now);
        known
    }

    /// Adapts the endpoint's slots to the result of an attempt.
    pub(super) fn record_result(&mut self, endpoint: EndpointId, succeeded: bool, took_ms: i64) {
        let (initial, max) = (self.initial_slots(), self.slots_max);
        if let Some(known) = self.endpoints.get_mut(&endpoint) {
            let slots = match succeeded {
                true if took_ms < SLOW_MS => known.slots + 1,
                true => (known.slots / 2).max(known.slots.min(initial)),
                false => known.slots / 2,
            };
            known.slots = slots.clamp(1, max);
            known.latest_ms = Some(took_ms);
        }
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
        let (endpoint, mut loads, start) = (endpoint(), Loads::new(1_000, 64), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let room = |loads: &Loads, milliseconds| loads.room(endpoint, Occupied::default(), at(milliseconds));
        assert_eq!(room(&loads, 0), Room::For(8), "it has no history");
        (0..5).for_each(|_| loads.count_sent(endpoint, Some(5), start));
        assert_eq!((room(&loads, 0), room(&loads, 450)), (Room::Later(at(200)), Room::For(2)));
        (0..2).for_each(|_| loads.count_sent(endpoint, Some(5), at(450)));
        assert!(matches!(room(&loads, 450), Room::Later(_)));
        assert_eq!((room(&loads, 650), room(&loads, 5_000)), (Room::For(1), Room::For(5)));
        loads.forget_idle(at(700_000));
        assert_eq!(room(&loads, 700_000), Room::For(8), "its history is dropped");
    }

    #[test]
    fn new_webhooks_keep_to_the_operator_s_limit() {
        let (endpoint, mut loads, start) = (endpoint(), Loads::new(3, 64), Instant::now());
        let mut taken = |milliseconds| {
            let at = start + Duration::from_millis(milliseconds);
            std::iter::repeat_with(|| loads.take_token(endpoint, at)).take_while(|taken| *taken).count()
        };
        assert_eq!((taken(0), taken(300), taken(400), taken(60_000)), (3, 0, 1, 3));
    }

    #[test]
    fn instances_share_the_rate() {
        let (endpoint, mut loads, start) = (endpoint(), Loads::new(6, 64), Instant::now());
        loads.share(3);
        let taken = |loads: &mut Loads, milliseconds| {
            let at = start + Duration::from_millis(milliseconds);
            std::iter::repeat_with(|| loads.take_token(endpoint, at)).take_while(|taken| *taken).count()
        };
        assert_eq!((taken(&mut loads, 0), taken(&mut loads, 1_000), taken(&mut loads, 60_000)), (2, 2, 2));
        loads.share(12);
        assert_eq!(
            (taken(&mut loads, 61_000), taken(&mut loads, 62_000)),
            (0, 1),
            "one token in two seconds"
        );
        loads.share(1);
        assert_eq!((taken(&mut loads, 62_500), taken(&mut loads, 70_000)), (3, 6));
    }

    #[test]
    fn slots_grow_with_success_and_shrink_with_failure() {
        let (endpoint, mut loads, now) = (endpoint(), Loads::new(1_000, 12), Instant::now());
        loads.record_result(endpoint, true, 1);
        assert_eq!(loads.slots(endpoint), 8, "no webhook was sent yet");
        loads.count_sent(endpoint, None, now);
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
        let (endpoint, mut loads, now) = (endpoint(), Loads::new(1_000, 64), Instant::now());
        loads.count_sent(endpoint, None, now);
        let mut after = |succeeded, took_ms| {
            loads.record_result(endpoint, succeeded, took_ms);
            loads.slots(endpoint)
        };
        assert_eq!((after(true, 9_000), after(true, SLOW_MS)), (8, 8));
        (0..20).for_each(|_| _ = after(true, 10));
        assert_eq!((after(true, 9_000), after(true, 9_000), after(true, 9_000)), (14, 8, 8));
        assert_eq!((after(false, 10_000), after(true, 9_000), after(true, 10)), (4, 4, 5));
    }

    #[test]
    fn attempts_in_flight_occupy_slots() {
        let (endpoint, mut loads, now) = (endpoint(), Loads::new(100, 64), Instant::now());
        let used = |all| Occupied { all, new: 0 };
        assert_eq!(
            (loads.room(endpoint, used(2), now), loads.room(endpoint, used(8), now)),
            (Room::For(6), Room::Full)
        );
        loads.count_sent(endpoint, None, now);
        loads.count_sent(endpoint, Some(5), now);
        assert_eq!(loads.room(endpoint, used(2), now), Room::For(4), "the rate allows fewer");
    }

    #[test]
    fn claims_leave_half_of_the_slots_to_new_webhooks_while_these_come() {
        let (endpoint, mut loads, start) = (endpoint(), Loads::new(1_000, 64), Instant::now());
        let room = |loads: &Loads, all, new, ms| {
            loads.room(endpoint, Occupied { all, new }, start + Duration::from_millis(ms))
        };
        assert!(loads.take_token(endpoint, start));
        assert_eq!(room(&loads, 0, 0, 0), Room::For(8));
        loads.note_new(endpoint, start);
        assert_eq!((room(&loads, 0, 0, 0), room(&loads, 3, 3, 0)), (Room::For(4), Room::For(4)));
        let until = start + NEW_EXPECTED;
        assert_eq!((room(&loads, 4, 0, 0), room(&loads, 4, 4, 0)), (Room::Kept(until), Room::For(4)));
        assert_eq!(room(&loads, 8, 4, 0), Room::Full);
        assert_eq!(room(&loads, 4, 0, 250), Room::For(4), "no new one came");
        loads.record_result(endpoint, false, 1);
        (0..3).for_each(|_| loads.record_result(endpoint, false, 1));
        loads.note_new(endpoint, start);
        assert_eq!((loads.slots_of_new(endpoint), room(&loads, 0, 0, 0)), (1, Room::For(1)), "the only slot");
    }
}
