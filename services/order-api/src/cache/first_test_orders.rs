//! Businesses known to have a test order. The database is asked once per business whether an order is its first.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::BusinessId;
use lru::LruCache;

const ENTRIES_MAX: NonZeroUsize = NonZeroUsize::new(100_000).unwrap();

/// Clones share the entries. A missing entry costs one query.
#[derive(Clone)]
pub struct FirstTestOrderCache(Arc<Mutex<LruCache<BusinessId, ()>>>);

impl Default for FirstTestOrderCache {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(ENTRIES_MAX))))
    }
}

impl FirstTestOrderCache {
    pub fn contains(&self, business: BusinessId) -> bool {
        self.lock().get(&business).is_some()
    }

    /// Call this after the commit of a test order, not before.
    pub fn insert(&self, business: BusinessId) {
        self.lock().put(business, ());
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<BusinessId, ()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
