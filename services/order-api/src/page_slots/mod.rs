//! Pages of orders and events take at most half of the pool's connections, so that orders are placed while many pages are
//! asked for. A reader takes at most half of these slots, so that others read meanwhile.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use domain::BusinessId;
use postgres::StoreError;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// As for a connection of the pool.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    Business(BusinessId),
    Fleet,
}

/// Slots for pages that are being read.
pub struct PageSlots {
    all: Semaphore,
    share: usize,
    /// Of readers that read or wait.
    shares: Mutex<HashMap<Reader, Weak<Semaphore>>>,
}

/// A slot, until it is dropped.
pub struct PageSlot<'a> {
    _of_all: SemaphorePermit<'a>,
    _of_reader: OwnedSemaphorePermit,
}

impl PageSlots {
    pub fn of(pool_size: usize) -> Self {
        let all = (pool_size / 2).max(1);
        Self { all: Semaphore::new(all), share: (all / 2).max(1), shares: Mutex::default() }
    }

    /// # Errors
    /// [`StoreError::Busy`] when none is free within 2 s.
    pub async fn enter(&self, reader: Reader) -> Result<PageSlot<'_>, StoreError> {
        let share = self.share_of(reader);
        match timeout(PATIENCE, self.take(share)).await {
            Ok(Ok(slot)) => Ok(slot),
            _ => Err(StoreError::Busy("too many pages are being read".into())),
        }
    }

    /// A reader waits for its share first, so that it never has more than its share in the queue of all.
    async fn take(&self, share: Arc<Semaphore>) -> Result<PageSlot<'_>, AcquireError> {
        let of_reader = share.acquire_owned().await?;
        Ok(PageSlot { _of_all: self.all.acquire().await?, _of_reader: of_reader })
    }

    fn share_of(&self, reader: Reader) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&reader).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.share));
        shares.insert(reader, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_page_that_finds_no_slot_is_refused_as_busy() {
        let slots = PageSlots::of(1);
        let _taken = slots.enter(Reader::Fleet).await.unwrap();
        assert!(matches!(slots.enter(Reader::Fleet).await, Err(StoreError::Busy(_))));
    }
}
