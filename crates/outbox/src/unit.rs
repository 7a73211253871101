//! The unit of work of a service: one transaction that may announce events.

use domain::{Clock, Entropy};
use postgres::{Database, StoreError, Work};

use crate::OutboxNotifier;

/// A service's database, clock, randomness and outbox: everything that a write needs. Clones share it.
#[derive(Clone)]
pub struct Unit {
    pub database: Database,
    pub clock: Clock,
    pub entropy: Entropy,
    pub outbox: OutboxNotifier,
}

impl Unit {
    /// Runs the work in one transaction and wakes the relay after the commit. Writes that announce no event use
    /// [`Database::transaction`].
    ///
    /// # Errors
    /// As [`Database::transaction`].
    pub async fn transaction<R, E, F>(&self, work: F) -> Result<R, E>
    where
        F: for<'r> Work<'r, Result<R, E>>,
        E: From<StoreError>,
    {
        let outcome = self.database.transaction(work).await?;
        self.outbox.notify();
        Ok(outcome)
    }
}
