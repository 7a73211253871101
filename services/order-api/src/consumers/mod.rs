//! Events that this service consumes from the broker.

mod cache_invalidation;

pub use cache_invalidation::CacheInvalidation;
