//! HTTP.

pub(crate) mod businesses;
pub(crate) mod operator_health;
pub(crate) mod ordering;
pub(crate) mod pickup_profile;
pub(crate) mod subscription;
