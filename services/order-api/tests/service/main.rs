//! order-api on a real PostgreSQL and RabbitMQ. The other services are fakes that use the types of `internal-api`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails fails its test"
)]

mod after_failure;
mod attempt_fees;
mod bad_input;
mod browsers;
mod business;
mod corrections;
mod docs;
mod ended_orders;
mod erasures;
mod events;
mod evidence;
mod exceptions;
mod feed;
mod fleet_list;
mod fleet_reports;
mod harness;
mod idempotency;
mod key_restrictions;
mod limits;
mod live_orders;
mod order_pages;
mod parameters;
mod peers;
mod recovery;
mod remittances;
mod search;
mod search_many;
mod suspension;
mod tenants;
mod tracking;
mod write_batches;
