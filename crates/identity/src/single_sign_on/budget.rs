//! How many requests a business may cause at its identity provider.

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use domain::Clock;

const WINDOW: TimeDelta = TimeDelta::minutes(1);
/// In one window and instance: the log-ins of all users of a business, and no flood.
const REQUESTS_MAX: u32 = 600;

/// Counts the requests of one business. Changed settings do not reset it.
pub struct Budget {
    clock: Clock,
    used: Mutex<(DateTime<Utc>, u32)>,
}

impl Budget {
    pub fn new(clock: Clock) -> Self {
        Self { used: Mutex::new((clock.now(), 0)), clock }
    }

    /// Whether another request is allowed now.
    pub(super) fn take(&self) -> bool {
        let now = self.clock.now();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if now >= used.0 + WINDOW {
            *used = (now, 0);
        }
        used.1 = used.1.saturating_add(1);
        used.1 <= REQUESTS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_bounded_per_minute() {
        let clock = Clock::manual(DateTime::UNIX_EPOCH);
        let budget = Budget::new(clock.clone());
        assert!((0..REQUESTS_MAX).all(|_| budget.take()));
        assert!(!budget.take());
        clock.advance(WINDOW);
        assert!(budget.take());
    }
}
