//! key-management as its callers meet it: the whole service on a real PostgreSQL and RabbitMQ, through its typed client.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of tests end the test that cannot go on"
)]

mod create;
mod erasures;
mod harness;
mod internal_tls;
mod list;
mod options;
mod outage;
mod process;
mod revoke;
mod rotate;
mod tenants;
mod verify;
