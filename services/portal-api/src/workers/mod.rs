//! Background tasks, one per file.

mod check_sessions;
mod prune;
mod send_mails;

pub(crate) use check_sessions::{INTERVAL as SESSION_CHECK_INTERVAL, check_sessions};
pub(crate) use prune::{INTERVAL as PRUNE_INTERVAL, prune};
pub(crate) use send_mails::send_mails;
