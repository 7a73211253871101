//! HTTP.

pub(crate) mod operator_tokens;
pub(crate) mod staff;
