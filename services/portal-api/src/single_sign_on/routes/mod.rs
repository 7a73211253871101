//! HTTP.

pub(crate) mod of_staff;
pub(crate) mod of_users;
pub(crate) mod settings;
pub(crate) mod sso_log_ins;
