//! HTTP.

pub(crate) mod home;
pub(crate) mod operator_home;
