//! Use cases that write.

pub(crate) mod create_export;
mod rows;
pub(crate) mod write_export;
