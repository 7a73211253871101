//! The shop with a real PostgreSQL and a fake delivery service.
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
