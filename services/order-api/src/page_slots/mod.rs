//! Pages of orders and events take at most half of the pool's connections, so that orders are placed while many pages are
//! asked for.

use std::time::Duration;

use postgres::StoreError;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// As for a connection of the pool.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pages that are being read.
pub struct PageSlots(Semaphore);

impl PageSlots {
    pub fn of(pool_size: usize) -> Self {
        Self(Semaphore::new((pool_size / 2).max(1)))
    }

    /// A slot, until it is dropped.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when none is free within 2 s.
    pub async fn enter(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        let Ok(Ok(slot)) = timeout(PATIENCE, self.0.acquire()).await else {
            return Err(StoreError::Unavailable("too many pages are being read".into()));
        };
        Ok(slot)
    }
}
