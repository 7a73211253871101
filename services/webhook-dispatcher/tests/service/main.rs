//! The whole service on a real PostgreSQL and RabbitMQ, called through its typed client, with real HTTP receivers.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of tests end the test that cannot go on"
)]

mod announcements;
mod batches;
mod claim_turns;
mod eager;
mod endpoints;
mod erasures;
mod filters;
mod harness;
mod hostile_names;
mod hostile_urls;
mod instances;
mod isolation;
mod log;
mod name_server;
mod order;
mod outages;
mod outcomes;
mod owner_tests;
mod parked;
mod personal_data;
mod plans;
mod process;
mod proxy;
mod rates;
mod receiver;
mod recoveries;
mod refused_targets;
mod restarts;
mod retention;
mod retries;
mod rotation;
mod signatures;
mod tenants;
mod verify;
mod witness;
