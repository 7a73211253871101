//! Credits, debits and other calls that a second person approves.

pub(crate) mod commands;
pub(crate) mod domain;
pub(crate) mod queries;
pub(crate) mod routes;
pub(crate) mod store;
