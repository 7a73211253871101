//! The shop on a real PostgreSQL, against a small HTTP server that plays the delivery service.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests may panic like the tests themselves"
)]

mod bench;
mod command_line;
mod remote;
mod sync;
mod webhooks;
