//! Reads: from the database, and from several services at once.

pub(crate) mod approvals;
pub(crate) mod audit_log;
pub(crate) mod business_health;
pub(crate) mod business_sso;
pub(crate) mod businesses;
pub(crate) mod email_state;
pub(crate) mod invitations;
pub(crate) mod keys_of_user;
pub(crate) mod memberships;
pub(crate) mod operator_audit_log;
pub(crate) mod operator_tokens;
pub(crate) mod passkeys;
pub(crate) mod password_resets;
pub(crate) mod pickup_profile;
pub(crate) mod second_factors;
pub(crate) mod sessions;
pub(crate) mod staff;
pub(crate) mod status;
mod unanswered;
pub(crate) mod users;
