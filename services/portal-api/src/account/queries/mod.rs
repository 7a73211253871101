//! Reads.

pub(crate) mod email_state;
pub(crate) mod memberships;
pub(crate) mod passkeys;
pub(crate) mod password_resets;
pub(crate) mod second_factors;
pub(crate) mod sessions;
