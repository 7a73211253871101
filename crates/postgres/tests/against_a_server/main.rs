//! This crate with real PostgreSQL servers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod batcher;
mod database;
mod failover;
mod grants;
mod languages;
mod migrate;
mod servers;
mod tls;
