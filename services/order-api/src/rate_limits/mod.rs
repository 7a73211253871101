//! Rate limits: per API key on the integration API, and per client address on tracking pages.

mod api_keys;
mod tracking;

pub use api_keys::{KeyRate, RateLimits};
pub use tracking::TrackingLimit;
