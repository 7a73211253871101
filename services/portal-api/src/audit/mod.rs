//! The audit logs of businesses and of the operator.

pub(crate) mod commands;
pub(crate) mod domain;
pub(crate) mod queries;
pub(crate) mod routes;
