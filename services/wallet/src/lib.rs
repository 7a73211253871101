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

pub use app::Service;
pub use payments::Provider;
pub use settings::{Payments, Settings, WalletRules};

/// Creates or updates this service's tables.
///
/// # Errors
/// When the database cannot be reached or refuses.
pub async fn migrate(database: &::settings::Database) -> anyhow::Result<()> {
    postgres::migrate(database, vec![outbox::MIGRATIONS, store::MIGRATIONS]).await
}
