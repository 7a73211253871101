//! Use cases that write.

pub(crate) mod key_events;
