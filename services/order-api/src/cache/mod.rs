//! Short-lived copies of decisions that other services own, and of facts that never change.

mod first_test_orders;
mod keys;
mod live_access;
mod peer_cache;

pub use first_test_orders::FirstTestOrderCache;
pub use keys::{AuthenticationError, KeyCache};
pub use live_access::LiveAccessCache;
