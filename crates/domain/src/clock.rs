//! The injected clock. Services hold a [`Clock`]; tests hold one they can move by hand.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};

/// Tells the time in UTC, cut to microseconds (what PostgreSQL keeps), so that a time written and read back is equal.
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

    /// A clock that stands still until [`Clock::advance`] moves it; its clones move with it.
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

    /// The time since a fixed moment, for measuring spans: it never goes back, even if the machine's wall clock does.
    pub fn monotonic(&self) -> Duration {
        match &self.0 {
            Source::System => STARTED.elapsed(),
            Source::Manual(_) => (self.now() - DateTime::UNIX_EPOCH).to_std().unwrap_or_default(),
        }
    }

    /// Moves a manual clock forward; the system clock is not ours to move, so there it does nothing.
    pub fn advance(&self, by: TimeDelta) {
        if let Source::Manual(now) = &self.0 {
            *now.lock().unwrap_or_else(PoisonError::into_inner) += by;
        }
    }
}

/// When this process first measured a span.
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

#[expect(clippy::disallowed_methods, reason = "the one place where the system clock is read")]
fn system_now() -> DateTime<Utc> {
    Utc::now()
}
