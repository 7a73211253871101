//! Use cases that write.

pub(crate) mod accept_invitation;
pub(crate) mod change_user;
pub(crate) mod invite;
pub(crate) mod owners;
