//! The injected clock. Tests use a [`Clock`] that they move by hand.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};

/// The time in UTC, truncated to the microseconds that PostgreSQL stores, so that a stored time compares equal.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Manual(Arc<Mutex<DateTime<Utc>>>),
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that changes only through [`Clock::advance`]. Its clones share the time.
    pub fn manual(start: DateTime<Utc>) -> Self {
        Self(Source::Manual(Arc::new(Mutex::new(start))))
    }

    /// The present time in UTC.
    pub fn now(&self) -> DateTime<Utc> {
        match &self.0 {
            Source::System => system_now().trunc_subsecs(6),
            Source::Manual(now) => *now.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// The time since a fixed moment, to measure durations. Unlike the wall clock, it never goes backwards.
    pub fn monotonic(&self) -> Duration {
        match &self.0 {
            Source::System => STARTED.elapsed(),
            Source::Manual(_) => (self.now() - DateTime::UNIX_EPOCH).to_std().unwrap_or_default(),
        }
    }

    /// Moves a manual clock forward. Does nothing on a system clock.
    pub fn advance(&self, by: TimeDelta) {
        if let Source::Manual(now) = &self.0 {
            *now.lock().unwrap_or_else(PoisonError::into_inner) += by;
        }
    }
}

/// The first use of the monotonic clock in this process.
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

#[expect(clippy::disallowed_methods, reason = "the one place where the system clock is read")]
fn system_now() -> DateTime<Utc> {
    Utc::now()
}
