//! wallet: the ledger. Debits for order-api, refunds by event, top-ups and credits, balances and statements, the cash of
//! deliveries. Its books are double-entry and append-only, and PostgreSQL checks them once more (see `migrations/`).

mod app;
mod commands;
mod consumers;
mod counters;
mod domain;
mod payments;
mod reconcile;
mod routes;
mod settings;
mod store;

pub use crate::domain::Provider;
pub use crate::settings::{Payments, RazorpayAccount, Reconciliation, Settings, WalletRules};
pub use app::start;
pub use reconcile::command::main as reconcile;
pub use store::MIGRATIONS;
