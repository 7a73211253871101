//! The backend of the portal: accounts, sessions, business profiles, go-live and status indicators.
//!
//! It owns businesses, and decides whether a business may place live orders. Keys, webhooks, wallets and orders belong to
//! other services. Calls to them always carry the business of the session, which no request can change.

mod account;
mod approvals;
mod audit;
mod business;
mod commands;
mod console;
mod consumers;
mod domain;
mod exports;
mod go_live;
mod home;
mod http;
mod live_updates;
mod mail;
mod pages;
mod peers;
mod reconcile;
mod relay;
pub mod settings;
mod single_sign_on;
mod start;
mod state;
mod store;
mod team;
mod workers;

pub use http::openapi_document;
pub use start::{CreateOperator, create_operator, reconcile, start};
pub use store::TABLES;
