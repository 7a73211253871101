//! What this process knows of one endpoint: its due deliveries, its attempts in flight, and how much it may get, adapted to its
//! responses.

use std::time::Duration;

use domain::{BusinessId, Mode};
use tokio::time::Instant;

use super::bucket::Bucket;
use super::queue::Queue;
use crate::domain::Speed;

/// For an endpoint without history. One that hangs occupies no more slots than these.
const INITIAL_SLOTS: i64 = 8;
/// Slower endpoints get no additional slots: each attempt would occupy its slot for that long.
const SLOW_MS: i64 = 1_000;
/// An endpoint that responds within this time is quick.
const QUICK_MS: i64 = 100;
/// Claims leave slots to new webhooks for this long after the latest one.
const NEW_EXPECTED: Duration = Duration::from_millis(250);
/// The history of an idle endpoint is dropped after this time.
const IDLE_MAX: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) business: BusinessId,
    /// This instance claims whatever is due, and probes a half-open breaker. The others claim only what they made due
    /// themselves.
    pub(super) is_preferred: bool,
    queues: [Queue; 2],
    /// Slots in use, or kept for a claim that runs.
    occupied: Occupied,
    /// Concurrent attempts that it may have: one more with each success, half as many with each failure. Slow successes reduce
    /// it to the initial number.
    slots: i64,
    slots_max: i64,
    /// How long the latest attempt took. None before the first one has ended.
    latest_ms: Option<i64>,
    /// When a new webhook last needed a slot.
    new_at: Option<Instant>,
    pub(super) bucket: Bucket,
    limit: Limit,
    used_at: Instant,
}

/// Webhooks per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// Until the first webhook.
    Unknown,
    /// The operator's.
    General,
    Own(i32),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Occupied {
    pub all: i64,
    /// By new deliveries.
    pub new: i64,
}

/// What the waiting deliveries of an endpoint may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// All its slots are in use, or kept for new webhooks until this time.
    Full(Option<Instant>),
    /// Its rate limit allows the next webhook at this time.
    Later(Instant),
    For(i64),
}

impl Endpoint {
    pub(super) fn new(business: BusinessId, is_preferred: bool, slots_max: i64, bucket: Bucket) -> Self {
        Self {
            business,
            is_preferred,
            queues: Default::default(),
            occupied: Occupied::default(),
            slots: INITIAL_SLOTS.min(slots_max),
            slots_max,
            latest_ms: None,
            new_at: None,
            bucket,
            limit: Limit::Unknown,
            used_at: Instant::now(),
        }
    }

    pub(super) fn queue(&mut self, mode: Mode) -> &mut Queue {
        &mut self.queues[mode as usize]
    }

    pub(super) fn limit(&self) -> Limit {
        self.limit
    }

    /// Tokens of another rate are gone.
    pub(super) fn set_limit(&mut self, limit: Limit, now: Instant) {
        let is_own = |limit| matches!(limit, Limit::Own(_));
        if self.limit != limit && (is_own(self.limit) || is_own(limit)) {
            self.bucket.drain(now);
        }
        self.limit = limit;
    }

    pub(super) fn in_flight(&self) -> i64 {
        self.occupied.all
    }

    pub(super) fn occupy(&mut self, count: i64, is_new: bool, now: Instant) {
        self.occupied.all += count;
        self.occupied.new += if is_new { count } else { 0 };
        self.used_at = now;
    }

    pub(super) fn vacate(&mut self, count: i64, is_new: bool) {
        self.occupied.all -= count;
        self.occupied.new -= if is_new { count } else { 0 };
    }

    /// A new webhook needs a slot. New webhooks use at most half of the slots: waiting ones get the rest.
    pub(super) fn admits_new(&mut self, now: Instant) -> bool {
        self.new_at = Some(now);
        self.occupied.new < (self.slots / 2).max(1) && self.occupied.all < self.slots
    }

    /// How many more waiting webhooks it may get now. While new ones come, those keep their slots: a new webhook costs a
    /// fraction of a claimed one, so claims that took all slots would make more and more of them wait.
    pub(super) fn room(&mut self, rate: f64, now: Instant) -> Room {
        let expected_until = self.new_at.map(|at| at + NEW_EXPECTED).filter(|until| *until > now);
        let kept = expected_until.map_or(0, |_| (self.slots / 2 - self.occupied.new).max(0));
        let free = self.slots - self.occupied.all;
        if free <= 0 {
            return Room::Full(None);
        }
        if free <= kept {
            return Room::Full(expected_until);
        }
        self.bucket.fill(rate, now);
        match self.bucket.whole_tokens() {
            0 => Room::Later(now + self.bucket.next_token(rate)),
            tokens => Room::For((free - kept).min(tokens)),
        }
    }

    /// Whether it responds quickly. One without history gets the chance to show it.
    pub(super) fn is_quick(&self) -> bool {
        self.latest_ms.is_none_or(|took| took < QUICK_MS)
    }

    pub(super) fn speed(&self) -> Speed {
        match self.latest_ms {
            Some(took) if took < SLOW_MS => Speed::Prompt,
            _ => Speed::Uncertain,
        }
    }

    /// Adapts the slots to the result of an attempt.
    pub(super) fn record_result(&mut self, succeeded: bool, took_ms: i64) {
        let initial = INITIAL_SLOTS.min(self.slots_max);
        let slots = match succeeded {
            true if took_ms < SLOW_MS => self.slots + 1,
            true => (self.slots / 2).max(self.slots.min(initial)),
            false => self.slots / 2,
        };
        self.slots = slots.clamp(1, self.slots_max);
        self.latest_ms = Some(took_ms);
    }

    /// Whether its history may be dropped.
    pub(super) fn is_idle(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used_at) > IDLE_MAX
            && self.occupied == Occupied::default()
            && self.queues.iter().all(|queue| queue.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    fn endpoint(slots_max: i64, now: Instant) -> Endpoint {
        let business = BusinessId::generate(&Clock::system(), &Entropy::seeded(1));
        Endpoint::new(business, true, slots_max, Bucket::empty(now - Duration::from_secs(1)))
    }

    #[test]
    fn slots_grow_with_success_and_shrink_with_failure() {
        let mut endpoint = endpoint(12, Instant::now());
        let slots = [true, true, true, true, true, false, false, false, false, true].map(|succeeded| {
            endpoint.record_result(succeeded, 999);
            endpoint.slots
        });
        assert_eq!(slots, [9, 10, 11, 12, 12, 6, 3, 1, 1, 2]);
    }

    #[test]
    fn slow_responses_reduce_the_slots_to_the_initial_number() {
        let mut endpoint = endpoint(64, Instant::now());
        let mut after = |succeeded, took_ms| {
            endpoint.record_result(succeeded, took_ms);
            endpoint.slots
        };
        assert_eq!((after(true, 9_000), after(true, SLOW_MS)), (8, 8));
        (0..20).for_each(|_| _ = after(true, 10));
        assert_eq!((after(true, 9_000), after(true, 9_000), after(true, 9_000)), (14, 8, 8));
        assert_eq!((after(false, 10_000), after(true, 9_000), after(true, 10)), (4, 4, 5));
    }

    #[test]
    fn its_slots_and_its_rate_limit_the_room() {
        let now = Instant::now();
        let mut endpoint = endpoint(64, now);
        endpoint.occupy(2, false, now);
        assert_eq!(endpoint.room(100.0, now), Room::For(6));
        endpoint.bucket.take(97);
        assert_eq!(endpoint.room(100.0, now), Room::For(3));
        endpoint.bucket.take(3);
        assert!(matches!(endpoint.room(100.0, now), Room::Later(at) if at > now));
        endpoint.occupy(6, false, now);
        assert_eq!(endpoint.room(100.0, now), Room::Full(None));
    }

    #[test]
    fn claims_leave_half_of_the_slots_to_new_webhooks_while_these_come() {
        let start = Instant::now();
        let mut endpoint = endpoint(64, start);
        assert_eq!(endpoint.room(1_000.0, start), Room::For(8));
        assert!(endpoint.admits_new(start));
        assert_eq!(endpoint.room(1_000.0, start), Room::For(4));
        endpoint.occupy(4, false, start);
        let until = start + NEW_EXPECTED;
        assert_eq!(endpoint.room(1_000.0, start), Room::Full(Some(until)));
        assert_eq!(endpoint.room(1_000.0, until), Room::For(4), "no new one came");
        endpoint.occupy(4, true, start);
        assert!(!endpoint.admits_new(start), "they have their half");
        endpoint.vacate(8, true);
        (0..4).for_each(|_| endpoint.record_result(false, 1));
        assert_eq!((endpoint.slots, endpoint.admits_new(start)), (1, true), "the only slot");
    }
}
