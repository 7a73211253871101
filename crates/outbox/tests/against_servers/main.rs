//! This crate with real servers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod backlog;
mod relaying;
mod servers;
mod tables;
