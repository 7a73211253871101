//! Background tasks, one per file.

mod check_sessions;
mod consume_live_updates;
mod prune;
mod send_mails;
mod write_exports;

pub(crate) use check_sessions::{INTERVAL as SESSION_CHECK_INTERVAL, check_sessions};
pub(crate) use consume_live_updates::consume_live_updates;
pub(crate) use prune::{INTERVAL as PRUNE_INTERVAL, prune};
pub(crate) use send_mails::send_mails;
pub(crate) use write_exports::write_exports;
