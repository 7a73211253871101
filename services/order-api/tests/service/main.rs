//! order-api, whole, on a real PostgreSQL and RabbitMQ. The other services are fakes that answer from the types of
//! `internal-api`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails fails its test"
)]

mod bad_input;
mod browsers;
mod business;
mod docs;
mod ended_orders;
mod erasures;
mod fleet_list;
mod fleet_reports;
mod harness;
mod idempotency;
mod intents;
mod limits;
mod news;
mod parameters;
mod peers;
mod recovery;
mod suspension;
mod tenants;
mod tracking;
