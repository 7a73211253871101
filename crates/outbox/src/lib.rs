//! The transactional outbox and inbox: an event is published if and only if its change is committed, and a consumer
//! handles a redelivered event only once.

mod enqueue;
mod floor;
mod housekeeping;
mod inbox;
mod relay;
mod rows;
mod schema;
mod stuck;
mod unit;

use diesel_migrations::{EmbeddedMigrations, embed_migrations};

pub use enqueue::{Outbox, PreparedMessages};
pub use housekeeping::prune_inbox;
pub use inbox::{first_time, first_times, rejection};
pub use relay::Relay;
pub use unit::Unit;

/// The tables of this crate, for [`postgres::migrate`]. Run them before the service's own migrations.
pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!();
