//! Buffers when keys were last used, so that verification writes nothing. The buffer holds each working key once at most.
//! A crash loses a few seconds of usage times.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use domain::ApiKeyId;

#[derive(Clone, Default)]
pub(crate) struct UsageBuffer(Arc<Mutex<BTreeMap<ApiKeyId, DateTime<Utc>>>>);

impl UsageBuffer {
    /// Keeps the latest time, in any order of calls.
    pub(crate) fn record(&self, key: ApiKeyId, at: DateTime<Utc>) {
        let mut uses = self.lock();
        let last = uses.entry(key).or_insert(at);
        *last = at.max(*last);
    }

    /// Removes and returns all times, sorted by key id.
    pub(crate) fn take(&self) -> Vec<(ApiKeyId, DateTime<Utc>)> {
        std::mem::take(&mut *self.lock()).into_iter().collect()
    }

    /// Restores times that could not be written.
    pub(crate) fn put_back(&self, uses: &[(ApiKeyId, DateTime<Utc>)]) {
        for (key, at) in uses {
            self.record(*key, *at);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ApiKeyId, DateTime<Utc>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use domain::{Clock, Entropy};

    use super::*;

    #[test]
    fn the_latest_use_counts_and_is_taken_once() {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(1));
        let (key, now) = (ApiKeyId::generate(&clock, &entropy), clock.now());
        let later = now + TimeDelta::seconds(1);
        let uses = UsageBuffer::default();
        uses.record(key, later);
        uses.record(key, now);
        let taken = uses.take();
        assert_eq!(taken, [(key, later)]);
        assert!(uses.take().is_empty());

        uses.record(key, later + TimeDelta::seconds(1));
        uses.put_back(&taken);
        assert_eq!(uses.take(), [(key, later + TimeDelta::seconds(1))]);
    }
}
