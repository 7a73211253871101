//! Use cases that write, one per file.

pub(crate) mod accept_invitation;
mod announce;
mod attempt_limits;
pub(crate) mod audit;
pub(crate) mod change_business;
pub(crate) mod change_password;
pub(crate) mod change_user;
pub(crate) mod confirm_go_live;
pub(crate) mod decide_approval;
pub(crate) mod fetch_reset_link;
pub(crate) mod invite;
pub(crate) mod log_in;
pub(crate) mod log_out;
pub(crate) mod mail_warning;
mod open_session;
pub(crate) mod operator_session;
pub(crate) mod operator_token;
mod owners;
pub(crate) mod prune;
pub(crate) mod publish_portal_change;
pub(crate) mod put_pickup_profile;
pub(crate) mod record_go_live_fact;
pub(crate) mod request_approval;
pub(crate) mod request_subscription;
pub(crate) mod reset_password;
pub(crate) mod revoke_sessions;
pub(crate) mod set_staff_password;
pub(crate) mod sign_up;
pub(crate) mod staff;
pub(crate) mod staff_log_in;
pub(crate) mod use_session;

pub(crate) use attempt_limits::Caller;
pub(crate) use open_session::Browser;
