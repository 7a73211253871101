//! Use cases that write.

pub(crate) mod confirm_go_live;
pub(crate) mod record_go_live_fact;
