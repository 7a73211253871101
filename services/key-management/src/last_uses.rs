//! When keys were last used, since this was last written. It holds each working key at most once, so it cannot outgrow
//! the table; a crash forgets a few seconds of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use domain::ApiKeyId;

#[derive(Clone, Default)]
pub(crate) struct LastUses(Arc<Mutex<BTreeMap<ApiKeyId, DateTime<Utc>>>>);

impl LastUses {
    /// Later uses replace earlier ones, in whichever order they are noted.
    pub(crate) fn note(&self, key: ApiKeyId, at: DateTime<Utc>) {
        let mut uses = self.lock();
        let last = uses.entry(key).or_insert(at);
        *last = at.max(*last);
    }

    /// All of them, sorted by id; they are this caller's to write now.
    pub(crate) fn take(&self) -> Vec<(ApiKeyId, DateTime<Utc>)> {
        std::mem::take(&mut *self.lock()).into_iter().collect()
    }

    /// What could not be written.
    pub(crate) fn put_back(&self, uses: &[(ApiKeyId, DateTime<Utc>)]) {
        for (key, at) in uses {
            self.note(*key, *at);
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
        let uses = LastUses::default();
        uses.note(key, later);
        uses.note(key, now);
        let taken = uses.take();
        assert_eq!(taken, [(key, later)]);
        assert!(uses.take().is_empty());

        uses.note(key, later + TimeDelta::seconds(1));
        uses.put_back(&taken);
        assert_eq!(uses.take(), [(key, later + TimeDelta::seconds(1))]);
    }
}
