//! Use cases that write.

pub(crate) mod audit;
pub(crate) mod audit_line;
