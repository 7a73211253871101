//! What this service hears from others.

pub(crate) mod cash;
pub(crate) mod refunds;
