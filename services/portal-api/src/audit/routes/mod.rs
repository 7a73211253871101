//! HTTP.

pub(crate) mod audit_log;
pub(crate) mod operator_actor_view;
pub(crate) mod operator_audit_log;
