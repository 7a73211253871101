//! Reads.

pub(crate) mod invitations;
pub(crate) mod keys_of_user;
pub(crate) mod users;
