//! The shop's tables. Row structs are private to this module.

pub(crate) mod orders;
mod schema;
pub(crate) mod webhooks;
