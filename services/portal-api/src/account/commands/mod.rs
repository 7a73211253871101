//! Use cases that write.

pub(crate) mod account_mail;
pub(crate) mod attempt_limits;
pub(crate) mod challenge;
pub(crate) mod change_email;
pub(crate) mod change_name;
pub(crate) mod change_password;
pub(crate) mod confirm_email;
pub(crate) mod confirm_session;
pub(crate) mod console_session;
pub(crate) mod create_account;
pub(crate) mod destination;
pub(crate) mod enrol_factor;
pub(crate) mod factor_code;
pub(crate) mod failed_proofs;
pub(crate) mod join_business;
pub(crate) mod log_in;
pub(crate) mod log_out;
pub(crate) mod manage_passkeys;
pub(crate) mod open_session;
pub(crate) mod own_account;
pub(crate) mod reset_factor;
pub(crate) mod reset_password;
pub(crate) mod revoke_sessions;
pub(crate) mod second_step;
pub(crate) mod sign_up;
pub(crate) mod switch_business;
pub(crate) mod use_passkey;
pub(crate) mod use_password_link;
pub(crate) mod use_session;
pub(crate) mod visitor;

pub(crate) use attempt_limits::Caller;
pub(crate) use challenge::ChallengeError;
pub(crate) use factor_code::Holder;
pub(crate) use open_session::{OpenedSession, ReplacedSession};
pub(crate) use own_account::{OwnAccount, OwnSession};
pub(crate) use visitor::{Browser, Visitor};
