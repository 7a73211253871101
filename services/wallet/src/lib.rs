//! wallet: the ledger. It debits fees for order-api, refunds them by event, credits top-ups, shows balances and statements,
//! and accounts for cash on delivery. The ledger is double-entry and append-only; PostgreSQL enforces its rules too (see
//! `migrations/`).

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

pub use domain::Provider;
pub use settings::{CodRules, Payments, RazorpayAccount, Reconciliation, Settings, WalletRules};
pub use start::{reconcile, start};
pub use store::TABLES;
