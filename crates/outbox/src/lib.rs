//! The transactional outbox and inbox: an event leaves if and only if the change that it tells of was committed, and a
//! consumer that hears it twice acts once.

mod enqueue;
mod housekeeping;
mod inbox;
mod notifier;
mod relay;
mod rows;
mod schema;
mod stuck;
mod unit;

use diesel_migrations::{EmbeddedMigrations, embed_migrations};

pub use enqueue::{enqueue, enqueue_traced};
pub use housekeeping::prune_inbox;
pub use inbox::{first_time, first_times, forget};
pub use notifier::OutboxNotifier;
pub use relay::Relay;
pub use unit::Unit;

/// The tables of this crate, for [`postgres::migrate`]; to be run before the service's own.
pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!();
