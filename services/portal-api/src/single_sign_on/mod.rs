//! Log-ins with identity providers: that of the operator, and those of businesses.

pub(crate) mod commands;
pub(crate) mod domain;
pub(crate) mod providers;
pub(crate) mod queries;
pub(crate) mod routes;
pub(crate) mod store;
