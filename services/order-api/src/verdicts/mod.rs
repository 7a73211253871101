//! What other services decide and this one keeps for a moment: whether a key is good, and whether a business may order.

mod cache;
mod keys;
mod ordering;

pub use cache::VerdictCache;
pub use keys::{AuthError, KeyVerdicts};
pub use ordering::OrderingVerdicts;
