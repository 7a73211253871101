//! Reads.

pub(crate) mod keys_of_user;
pub(crate) mod unanswered;
