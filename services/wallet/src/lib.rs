//! wallet: the ledger. Debits for order-api, refunds by event, top-ups and credits, balances and statements, the cash of
//! deliveries. Its books are double-entry and append-only, and PostgreSQL checks them once more (see `migrations/`).

mod cli;
mod commands;
mod consumers;
mod domain;
mod payments;
mod queries;
mod reconcile;
mod routes;
mod settings;
mod start;
mod state;
mod store;
mod workers;

pub use crate::domain::Provider;
pub use crate::payments::{Payments, RazorpayAccount};
pub use crate::settings::{Reconciliation, Settings, WalletRules};
pub use cli::reconcile::main as reconcile;
pub use start::start;
pub use store::MIGRATIONS;
