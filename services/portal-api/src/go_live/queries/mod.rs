//! Reads.

pub(crate) mod status;
