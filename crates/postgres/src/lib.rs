//! PostgreSQL for the services: a connection pool with time limits, migrations, and the write batcher. Knows no table of
//! any service.

mod after_commit;
mod batcher;
mod connect;
mod database;
mod demotion;
mod error;
mod grants;
mod language;
mod lease;
mod lock;
mod migrate;
mod statement;
mod work;

pub use after_commit::after_commit;
pub use batcher::{Apply, Batcher, BatcherOptions, Gather};
pub use connect::{check_url, exposure};
pub use database::Database;
pub use error::{StoreError, violates};
pub use grants::ROWS;
pub use lock::try_lock;
pub use migrate::{Schema, migrate};
pub use statement::{Literal, OneOf, Statement, literal, one_of, statement};
pub use work::Work;
