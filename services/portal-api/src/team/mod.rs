//! The users of a business, and invitations.

pub(crate) mod commands;
pub(crate) mod queries;
pub(crate) mod routes;
pub(crate) mod store;
