//! Background tasks, one per file.

mod expire_keys;
mod flush_usage;

pub(crate) use expire_keys::expire_keys;
pub(crate) use flush_usage::flush_usage;
