//! This service's tables. Rows stay in here; what goes out are the types of [`crate::domain`].

pub(crate) mod attempts;
pub(crate) mod audit_log;
pub(crate) mod businesses;
pub(crate) mod go_live;
pub(crate) mod invitations;
pub(crate) mod mails;
pub(crate) mod operator_sessions;
pub(crate) mod password_resets;
pub(crate) mod pickup_profiles;
mod schema;
pub(crate) mod sessions;
pub(crate) mod users;

use std::str::FromStr;

use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use postgres::StoreError;

pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations");

/// Reads an id or a word that we wrote ourselves; anything else means that the row is damaged.
fn stored<T: FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::Corrupt(format!("{column} holds what was never written there")))
}
