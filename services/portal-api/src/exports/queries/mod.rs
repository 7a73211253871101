//! Reads.

pub(crate) mod exports;
