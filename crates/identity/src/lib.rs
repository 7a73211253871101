//! Accounts, and how their people prove who they are: for users of businesses and for the operator's staff, which are two realms.
//!
//! Nothing of one realm opens anything in the other. This crate knows no business, no role and no HTTP: the id of a business only says
//! whose provider or whose membership something belongs to. Callers decide who may do what, write the audit log, and send mails.

/// Deletes at most `$max` old rows by key, and returns how many. A row that was renewed meanwhile stays.
#[macro_export]
macro_rules! prune {
    ($conn:expr, $max:expr, $table:ident::$key:ident: $type:ty, $old:expr) => {{
        let is_old = $old;
        let old = $table::table.filter(is_old.clone()).select($table::$key).limit($max);
        let keys: Vec<$type> = old.load($conn).await?;
        let still_old = $table::table.filter($table::$key.eq_any(keys)).filter(is_old);
        Ok(diesel::delete(still_old).execute($conn).await?)
    }};
}

pub mod accounts;
pub mod attempts;
mod browser;
pub mod passkeys;
pub mod password_links;
pub mod passwords;
/// The tables, for queries that join them to those of the service.
pub mod schema;
pub mod second_factors;
mod secrets;
pub mod sessions;
pub mod single_sign_on;

use std::str::FromStr;

use postgres::StoreError;

pub use accounts::{Account, Realm};
pub use browser::{CallerAddress, KnownBrowser, browser_name};
pub use secrets::{LinkToken, SecretToken, SessionToken, Vault, VaultError};

/// Parses an id or a word that this service wrote. A failure means that the row is damaged.
///
/// # Errors
/// When the text is not a valid value.
pub fn stored<T: FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::Corrupt(format!("{column} has an unexpected value")))
}
