//! Reads.

pub(crate) mod business_sso;
