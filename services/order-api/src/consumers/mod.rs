//! Events that this service consumes from the broker.

mod cache_invalidation;
mod remittances;

pub use cache_invalidation::CacheInvalidation;
pub use remittances::Remittances;
