//! PostgreSQL through diesel. Functions take the connection first, return `Ok(None)` for a missing row, and name the
//! business in each query of tenant rows. Row structs are private.

pub mod business_erasures;
pub mod evidence;
pub mod exceptions;
pub mod existing_orders;
pub mod feed;
pub mod financials;
pub mod first_test_orders;
pub mod fleet;
pub mod orders;
pub mod personal_data;
pub mod placement;
pub mod retry_tests;
pub mod search;
pub mod search_index;
pub mod simulations;
pub mod support;
pub mod timeline;

pub mod new_orders;
mod pages;
mod predicates;
mod rows;
mod schema;

use chassis::Tables;
use diesel_migrations::embed_migrations;

pub use postgres::StoreError;

pub const TABLES: Tables = Tables { migrations: embed_migrations!("migrations"), rights: postgres::ROWS };

/// For a value that no version of this service writes.
fn corrupt(column: &str, error: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(format!("{column}: {error}"))
}
