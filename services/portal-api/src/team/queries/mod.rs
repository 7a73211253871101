//! Reads.

pub(crate) mod invitations;
pub(crate) mod users;
