//! Businesses known to have placed a test order, so that the database is asked about each of them once.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::BusinessId;
use lru::LruCache;

const REMEMBERED_MAX: NonZeroUsize = NonZeroUsize::new(100_000).unwrap();

/// Clones share what they know. Forgetting costs a look into the database, nothing else.
#[derive(Clone)]
pub struct Testers(Arc<Mutex<LruCache<BusinessId, ()>>>);

impl Default for Testers {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(REMEMBERED_MAX))))
    }
}

impl Testers {
    pub fn knows(&self, business: BusinessId) -> bool {
        self.lock().get(&business).is_some()
    }

    /// To be called when its test order is committed, not before.
    pub fn note(&self, business: BusinessId) {
        self.lock().put(business, ());
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<BusinessId, ()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
