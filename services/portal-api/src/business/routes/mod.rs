//! HTTP.

pub(crate) mod operator;
pub(crate) mod operator_health;
pub(crate) mod pickup_profile;
pub(crate) mod subscription;
