//! Files with orders or cash of a business, which a worker writes.

pub(crate) mod commands;
pub(crate) mod domain;
pub(crate) mod queries;
pub(crate) mod routes;
pub(crate) mod store;
pub(crate) mod writer;
