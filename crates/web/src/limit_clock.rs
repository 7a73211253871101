//! The clock that rate limits refill by.

use std::time::Duration;

use domain::Clock;

/// The injected clock as governor reads it. It is the monotonic one: a wall clock that is set back would refuse every
/// caller until it catches up.
#[derive(Clone, Debug)]
pub struct LimitClock(Clock);

impl LimitClock {
    pub fn new(clock: Clock) -> Self {
        Self(clock)
    }
}

impl governor::clock::Clock for LimitClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.monotonic()
    }
}
