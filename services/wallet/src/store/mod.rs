//! PostgreSQL. Row structs are private to this folder.

pub(crate) mod attention;
pub(crate) mod cash;
pub(crate) mod cash_differences;
pub(crate) mod cash_months;
pub(crate) mod cash_totals;
mod columns;
pub(crate) mod debits;
pub(crate) mod payment_notices;
pub(crate) mod postings;
mod predicates;
pub(crate) mod reconciliation;
pub(crate) mod remittances;
mod schema;
pub(crate) mod spend;
pub(crate) mod statement;
pub(crate) mod statement_totals;
pub(crate) mod top_up_reversals;
pub(crate) mod top_ups;
pub(crate) mod transfers;
pub(crate) mod wallets;

use chassis::Tables;
use diesel_migrations::embed_migrations;

/// This service's tables.
pub const TABLES: Tables =
    Tables { migrations: embed_migrations!(), rights: include_str!("../../grants.sql") };
