//! Orders that recovery postpones after a failure, so that they do not delay the others.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use domain::OrderId;

/// After a refusal.
const REFUSED_PAUSE: TimeDelta = TimeDelta::minutes(1);
/// After the first call without an answer. It doubles with each further one, up to [`REFUSED_PAUSE`].
const UNANSWERED_PAUSE: TimeDelta = TimeDelta::seconds(5);

/// Small: a round adds at most one batch, and the pauses are short.
#[derive(Default)]
pub struct Postponed(HashMap<OrderId, Pause>);

struct Pause {
    until: DateTime<Utc>,
    /// Of the pause after the last unanswered call; zero without one.
    length: TimeDelta,
    is_refused: bool,
}

impl Postponed {
    /// The recovery of this order was refused.
    pub fn refused(&mut self, order: OrderId, now: DateTime<Utc>) {
        let pause = Pause { until: now + REFUSED_PAUSE, length: TimeDelta::zero(), is_refused: true };
        self.0.insert(order, pause);
    }

    /// The wallet did not answer for this order by `now`.
    pub fn unanswered(&mut self, order: OrderId, now: DateTime<Utc>) {
        let last = self.0.get(&order).map_or(TimeDelta::zero(), |pause| pause.length);
        let length = (last * 2).clamp(UNANSWERED_PAUSE, REFUSED_PAUSE);
        self.0.insert(order, Pause { until: now + length, length, is_refused: false });
    }

    /// The wallet did not answer for another order of the same business. This order comes before that one next time,
    /// because the failure may concern only the other order.
    pub fn skipped(&mut self, order: OrderId, now: DateTime<Utc>) {
        let length = self.0.get(&order).map_or(TimeDelta::zero(), |pause| pause.length);
        self.0.insert(order, Pause { until: now + UNANSWERED_PAUSE, length, is_refused: false });
    }

    pub fn recovered(&mut self, order: OrderId) {
        self.0.remove(&order);
    }

    /// Removes orders whose pause ended long ago: another instance has recovered them.
    pub fn remove_expired(&mut self, now: DateTime<Utc>) {
        self.0.retain(|_, pause| pause.until + REFUSED_PAUSE > now);
    }

    /// The orders that are postponed at `now`.
    pub fn active(&self, now: DateTime<Utc>) -> impl Iterator<Item = &OrderId> {
        self.0.iter().filter(move |(_, pause)| pause.until > now).map(|(order, _)| order)
    }

    pub fn count_refused(&self, now: DateTime<Utc>) -> usize {
        self.0.values().filter(|pause| pause.until > now && pause.is_refused).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Clock, Entropy};

    #[test]
    fn an_order_without_an_answer_waits_longer_each_time() {
        let clock = Clock::manual(DateTime::UNIX_EPOCH);
        let [order, other] = [1, 2].map(|seed| OrderId::generate(&clock, &Entropy::seeded(seed)));
        let mut postponed = Postponed::default();
        for seconds in [5, 10, 20, 40, 60, 60] {
            postponed.unanswered(order, clock.now());
            postponed.skipped(other, clock.now());
            let until = |order| postponed.0[order].until - clock.now();
            assert_eq!((until(&order), until(&other)), (TimeDelta::seconds(seconds), UNANSWERED_PAUSE));
            clock.advance(TimeDelta::seconds(seconds));
            postponed.remove_expired(clock.now());
            assert_eq!(postponed.active(clock.now()).count(), 0);
        }
        clock.advance(REFUSED_PAUSE);
        postponed.remove_expired(clock.now());
        assert!(postponed.0.is_empty());
        postponed.unanswered(order, clock.now());
        assert_eq!(postponed.0[&order].length, UNANSWERED_PAUSE);
    }
}
