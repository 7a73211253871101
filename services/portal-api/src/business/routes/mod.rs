//! HTTP.

pub(crate) mod businesses;
pub(crate) mod closing;
pub(crate) mod contact;
pub(crate) mod operator_health;
pub(crate) mod ordering;
pub(crate) mod pickup_profile;
pub(crate) mod refusal;
pub(crate) mod staff_notes;
pub(crate) mod subscription;
