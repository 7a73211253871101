//! Events of other services.

pub(crate) mod attempt_fees;
pub(crate) mod cash;
pub(crate) mod refunds;

pub(crate) use refunds::publish_counters;
