//! This crate with real servers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod backlog;
mod own_broker;
mod relaying;
mod servers;
mod tables;
