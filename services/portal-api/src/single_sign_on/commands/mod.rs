//! Use cases that write.

pub(crate) mod complete_business;
pub(crate) mod complete_staff;
pub(crate) mod configure_sso;
pub(crate) mod link_identity;
pub(crate) mod sso_proof;
pub(crate) mod sso_required;
pub(crate) mod staff_from_sso;
pub(crate) mod start_sso;
pub(crate) mod unlink_identity;
pub(crate) mod user_from_sso;

pub(crate) use sso_proof::{ProofError, SsoOutcome, SsoReturn};
pub(crate) use sso_required::SsoRequiredError;
