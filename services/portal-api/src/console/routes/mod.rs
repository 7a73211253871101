//! HTTP.

pub(crate) mod operator_records;
pub(crate) mod operator_tokens;
pub(crate) mod staff;
pub(crate) mod staff_links;
