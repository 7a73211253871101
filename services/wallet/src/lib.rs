//! wallet: the ledger. Debits for order-api, refunds by event, top-ups and credits, balances and statements. Its books
//! are double-entry and append-only, and PostgreSQL checks them once more (see `migrations/`).

mod app;
mod commands;
mod consumers;
mod domain;
mod payments;
mod routes;
mod settings;
mod store;

pub use app::start;
pub use payments::Provider;
pub use settings::{Payments, Settings, WalletRules};
pub use store::MIGRATIONS;
