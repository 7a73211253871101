//! What a person does with their own account, in both realms: log-ins, sessions, passwords, second factors, the address.

pub(crate) mod commands;
pub(crate) mod queries;
pub(crate) mod routes;
