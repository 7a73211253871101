//! Work at a fixed pace.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// The rate, whatever the state of earlier work.
pub(super) struct Pace {
    begun: Instant,
    interval: Duration,
    done: u32,
}

impl Pace {
    pub(super) fn new(per_second: u32) -> Self {
        Self { begun: Instant::now(), interval: Duration::from_secs(1) / per_second, done: 0 }
    }

    /// The amount of work in this time.
    pub(super) fn count(&self, time: Duration) -> u32 {
        u32::try_from(time.as_nanos() / self.interval.as_nanos().max(1)).unwrap_or(u32::MAX)
    }

    /// Waits for the next start time.
    pub(super) async fn next(&mut self) {
        sleep_until(self.begun + self.interval * self.done).await;
        self.done += 1;
    }
}
