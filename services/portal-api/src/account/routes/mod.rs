//! HTTP.

pub(crate) mod account_fields;
pub(crate) mod confirm_session;
pub(crate) mod console_session;
pub(crate) mod email;
pub(crate) mod memberships;
pub(crate) mod names;
pub(crate) mod opened;
pub(crate) mod passkeys;
pub(crate) mod password;
pub(crate) mod password_resets;
pub(crate) mod second_factor;
pub(crate) mod second_step;
pub(crate) mod session;
pub(crate) mod session_views;
pub(crate) mod sessions;
pub(crate) mod sign_up;
pub(crate) mod staff_links;
