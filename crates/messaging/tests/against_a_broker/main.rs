//! This crate with real RabbitMQ servers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod brokers;
mod consuming;
mod own_broker;
mod publishing;
mod recorder;
mod rights;
mod tls;
