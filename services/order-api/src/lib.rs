//! order-api: the integration API, the fleet API and the tracking page; owns orders and deliveries.

pub mod cache;
pub mod cli;
pub mod commands;
pub mod consumers;
pub mod domain;
pub mod feed_waiters;
pub mod order_events;
pub mod order_writer;
pub mod page_slots;
pub mod queries;
pub mod rate_limits;
pub mod routes;
pub mod settings;
pub mod start;
pub mod state;
pub mod store;
pub mod workers;
