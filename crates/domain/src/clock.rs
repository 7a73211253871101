//! The injected clock. Services hold a [`Clock`]; tests hold one they can move by hand.

use std::sync::{Arc, Mutex, PoisonError};

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

    /// Moves a manual clock forward; the system clock is not ours to move, so there it does nothing.
    pub fn advance(&self, by: TimeDelta) {
        if let Source::Manual(now) = &self.0 {
            *now.lock().unwrap_or_else(PoisonError::into_inner) += by;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where the system clock is read")]
fn system_now() -> DateTime<Utc> {
    Utc::now()
}
