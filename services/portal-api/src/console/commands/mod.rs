//! Use cases that write.

pub(crate) mod operator_token;
pub(crate) mod staff;
