//! Reads.

pub(crate) mod approvals;
