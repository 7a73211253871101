//! Reads: from the database, and from several services at once.

pub(crate) mod audit_log;
pub(crate) mod business_health;
pub(crate) mod businesses;
pub(crate) mod invitations;
pub(crate) mod password_resets;
pub(crate) mod pickup_profile;
pub(crate) mod sessions;
pub(crate) mod status;
mod unanswered;
pub(crate) mod users;
