//! What this service hears from others.

pub(crate) mod refunds;
