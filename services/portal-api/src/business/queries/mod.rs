//! Reads.

pub(crate) mod business_health;
pub(crate) mod businesses;
pub(crate) mod closing;
pub(crate) mod contact;
pub(crate) mod pickup_profile;
pub(crate) mod refusal;
pub(crate) mod unanswered;
