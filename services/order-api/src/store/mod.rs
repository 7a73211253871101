//! PostgreSQL, through diesel, and nothing else. Functions take the connection first; "not found" is `Ok(None)`; every
//! query of a tenant's rows names the business. Row structs stay in here.

pub mod claims;
pub mod erasing;
pub mod erasures;
pub mod fleet;
pub mod orders;
pub mod payments;
pub mod placing;
pub mod retries;
pub mod simulations;
pub mod support;
pub mod testers;
pub mod timeline;

mod new_orders;
mod predicates;
mod rows;
mod schema;

pub use postgres::StoreError;

pub const MIGRATIONS: diesel_migrations::EmbeddedMigrations =
    diesel_migrations::embed_migrations!("migrations");

/// What a row holds that no version of this service can have written.
fn corrupt(what: &str, error: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(format!("{what}: {error}"))
}
