//! What a business needs before its first live order.

pub(crate) mod commands;
pub(crate) mod domain;
pub(crate) mod queries;
pub(crate) mod routes;
