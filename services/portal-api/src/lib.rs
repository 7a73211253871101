//! The backend of the portal: accounts, sessions, business profiles, go-live and status indicators.
//!
//! It owns businesses, and decides whether a business may place live orders. Keys, webhooks, wallets and orders belong to
//! other services. Calls to them always carry the business of the session, which no request can change.

mod commands;
mod consumers;
mod domain;
mod live_updates;
mod mail;
mod pages;
mod peers;
mod queries;
mod reconcile;
mod routes;
pub mod settings;
mod single_sign_on;
mod start;
mod state;
mod store;
mod workers;

pub use routes::openapi_document;
pub use start::{CreateOperator, create_operator, reconcile, start};
pub use store::MIGRATIONS;
