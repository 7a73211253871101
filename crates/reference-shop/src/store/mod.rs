//! The shop's tables. Row structs stay in here.

pub(crate) mod orders;
pub(crate) mod pool;
mod schema;
pub(crate) mod webhooks;

pub use pool::StoreError;
