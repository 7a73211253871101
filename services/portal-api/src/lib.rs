//! Accounts, sessions, business profile, go-live and status indicators: the back end of the portal.
//!
//! It owns who a business is and whether it may order for real. Keys, webhooks, wallets and orders belong to other
//! services; their calls are passed on with the session's business, which nothing in a request can change.

mod app;
mod commands;
mod consumers;
mod domain;
mod live_orders;
mod mail;
mod mail_settings;
mod open_pages;
mod pages;
mod passwords;
mod peers;
mod queries;
mod reconcile;
mod region_settings;
mod routes;
mod session_watch;
pub mod settings;
mod status_changes;
mod store;
mod turns;

pub use app::start;
pub use reconcile::command::main as reconcile;
pub use routes::openapi_document;
pub use store::MIGRATIONS;
