//! HTTP.

pub(crate) mod operator_sso;
pub(crate) mod portal_sso;
pub(crate) mod single_sign_on;
pub(crate) mod sso_log_ins;
