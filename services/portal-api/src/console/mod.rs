//! The operator's staff and its tokens.

pub(crate) mod commands;
pub(crate) mod domain;
pub(crate) mod queries;
pub(crate) mod routes;
pub(crate) mod store;
