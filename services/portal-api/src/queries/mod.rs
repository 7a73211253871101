//! Reads that need more than one table of ours.

pub(crate) mod health;
pub(crate) mod status;
