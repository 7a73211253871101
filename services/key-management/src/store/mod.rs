//! PostgreSQL. Every query of one business's keys filters by that business; those of none (looking a key up by its hash,
//! ending graces, noting uses) say so.

mod keys;
mod row;
mod schema;
mod upkeep;

pub(crate) use keys::{
    businesses, count_working, find, find_by_hash, find_for_update, insert, list, lock_business, set_expiry,
    set_revoked, working_modes,
};
pub(crate) use upkeep::{note_uses, take_ended_graces};

use diesel_migrations::{EmbeddedMigrations, embed_migrations};

/// This service's tables.
pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!();
