//! PostgreSQL. Every query about one business's keys filters by that business. Queries across businesses say so.

mod keys;
mod maintenance;
mod row;
mod schema;

pub(crate) use keys::{
    businesses, count_working, erase_names, find, find_by_hash, find_for_update, has_unrevoked, insert, list,
    lock_business, rotated_among, set_expiry, set_revoked, working_modes,
};
pub(crate) use maintenance::{record_usage, revoke_expired};

use chassis::Tables;
use diesel_migrations::embed_migrations;

/// This service's tables.
pub const TABLES: Tables = Tables { migrations: embed_migrations!(), rights: postgres::ROWS };
