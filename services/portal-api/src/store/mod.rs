//! The tables of this service. Rows stay private; functions return types of [`crate::domain`].

/// Deletes at most `$max` old rows by key, and returns how many. A row that was renewed meanwhile stays.
macro_rules! prune {
    ($conn:expr, $max:expr, $table:ident::$key:ident: $type:ty, $old:expr) => {{
        let is_old = $old;
        let old = $table::table.filter(is_old.clone()).select($table::$key).limit($max);
        let keys: Vec<$type> = old.load($conn).await?;
        let still_old = $table::table.filter($table::$key.eq_any(keys)).filter(is_old);
        Ok(diesel::delete(still_old).execute($conn).await?)
    }};
}

pub(crate) mod accounts;
pub(crate) mod approval_limit;
pub(crate) mod approvals;
pub(crate) mod attempts;
pub(crate) mod audit_log;
pub(crate) mod business_sso;
pub(crate) mod businesses;
pub(crate) mod console_sessions;
pub(crate) mod email_confirmations;
pub(crate) mod go_live;
pub(crate) mod identities;
pub(crate) mod invitations;
pub(crate) mod log_in_challenges;
pub(crate) mod mails;
pub(crate) mod memberships;
pub(crate) mod operator_audit_log;
pub(crate) mod operator_tokens;
pub(crate) mod passkey_ceremonies;
pub(crate) mod passkeys;
pub(crate) mod password_links;
pub(crate) mod pickup_profiles;
mod schema;
pub(crate) mod second_factors;
pub(crate) mod sessions;
pub(crate) mod sso_log_ins;
pub(crate) mod staff;
pub(crate) mod user_sessions;
pub(crate) mod users;

use std::str::FromStr;

use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use postgres::StoreError;

pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations");

/// Parses an id or a word that this service wrote. A failure means that the row is damaged.
fn stored<T: FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::Corrupt(format!("{column} has an unexpected value")))
}
