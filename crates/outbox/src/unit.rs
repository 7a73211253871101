//! The unit of work of a service: one transaction that may announce events.

use domain::{Clock, Entropy};
use postgres::{Database, StoreError, Work};

use crate::Outbox;

/// A service's database, clock, randomness and outbox: everything that a write needs. Clones share it.
#[derive(Clone)]
pub struct Unit {
    pub database: Database,
    pub clock: Clock,
    pub entropy: Entropy,
    pub outbox: Outbox,
}

impl Unit {
    /// As [`Database::transaction`].
    ///
    /// # Errors
    /// As [`Database::transaction`].
    pub async fn transaction<R, E, F>(&self, work: F) -> Result<R, E>
    where
        F: for<'r> Work<'r, Result<R, E>>,
        E: From<StoreError>,
    {
        self.database.transaction(work).await
    }
}
