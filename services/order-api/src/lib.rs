//! order-api: the integration API, the fleet API and the tracking page; owns orders and deliveries.

pub mod address_limits;
pub mod app;
pub mod commands;
pub mod consumers;
pub mod domain;
mod erase_command;
pub mod limits;
pub mod queries;
pub mod retries;
pub mod routes;
pub mod settings;
pub mod store;
pub mod testers;
pub mod verdicts;

pub use erase_command::{Erasure, main as erase_personal_data};
