//! The shop's tables. Row structs stay in here.

pub(crate) mod orders;
mod schema;
pub(crate) mod webhooks;
