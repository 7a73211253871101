//! key-management: API keys (`spec.md` §2.4). It alone knows which keys exist; the others ask it, and are told of a key
//! that stops working by `api_key.revoked`.

mod app;
mod commands;
mod domain;
mod last_uses;
mod queries;
mod routes;
mod settings;
mod store;
mod workers;

pub use app::Service;
pub use settings::{Keys, Settings};

/// Creates or updates this service's tables.
///
/// # Errors
/// When the database cannot be reached or refuses.
pub async fn migrate(database: &::settings::Database) -> anyhow::Result<()> {
    postgres::migrate(database, vec![outbox::MIGRATIONS, store::MIGRATIONS]).await
}
