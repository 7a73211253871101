//! Slots for costly work. A caller has at most its share of them, so that others work meanwhile.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::ApiError;

/// As for a connection of the pool, unless the owner of the slots says otherwise.
const PATIENCE: Duration = Duration::from_secs(2);

/// `K` names a caller, such as a business.
pub struct FairSlots<K> {
    all: Arc<Semaphore>,
    share: usize,
    patience: Duration,
    /// Of callers that work or wait.
    shares: Mutex<HashMap<K, Weak<Semaphore>>>,
}

/// A slot, until it is dropped.
pub struct FairSlot {
    _of_all: OwnedSemaphorePermit,
    _of_caller: OwnedSemaphorePermit,
}

/// No slot was free in time.
#[derive(Clone, Copy, Debug)]
pub struct NoFreeSlot;

impl<K: Eq + Hash> FairSlots<K> {
    /// `all` slots, of which a caller takes at most `share`.
    pub fn new(all: usize, share: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), share, patience: PATIENCE, shares: Mutex::default() }
    }

    /// Callers wait so long for a slot, instead of 2 s.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// # Errors
    /// When none is free in time.
    pub async fn enter(&self, caller: K) -> Result<FairSlot, NoFreeSlot> {
        match timeout(self.patience, self.take(self.share_of(caller))).await {
            Ok(Ok(slot)) => Ok(slot),
            _ => Err(NoFreeSlot),
        }
    }

    /// Does work that takes milliseconds of processor time outside of the thread that serves all requests. The work keeps its
    /// slot until it ends, also when its caller has gone.
    ///
    /// # Errors
    /// 503 when no slot is free in time.
    pub async fn run<T: Send + 'static>(
        &self,
        caller: K,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let slot = self.enter(caller).await.map_err(|_| ApiError::unavailable())?;
        let work = move || {
            let outcome = work();
            drop(slot);
            outcome
        };
        tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
    }

    /// A caller waits for its share first, so that it never has more than its share in the queue of all.
    async fn take(&self, share: Arc<Semaphore>) -> Result<FairSlot, AcquireError> {
        let of_caller = share.acquire_owned().await?;
        Ok(FairSlot { _of_all: self.all.clone().acquire_owned().await?, _of_caller: of_caller })
    }

    fn share_of(&self, caller: K) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&caller).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.share));
        shares.insert(caller, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_caller_has_at_most_its_share() {
        let slots = FairSlots::new(3, 2);
        let enter = |caller| slots.enter(caller).now_or_never().map(Result::unwrap);
        let busy = [enter("busy").unwrap(), enter("busy").unwrap()];
        assert!(enter("busy").is_none());
        let other = enter("other").unwrap();
        assert!(enter("third").is_none(), "all are taken");
        drop(busy);
        assert!(enter("busy").is_some() && enter("third").is_some());
        drop(other);
    }

    #[tokio::test]
    async fn work_keeps_its_slot_when_its_caller_has_gone() {
        let slots = FairSlots::new(1, 1);
        let (begun, begins) = tokio::sync::oneshot::channel();
        let (end, ends) = mpsc::channel::<()>();
        let work = slots.run("gone", move || {
            begun.send(()).unwrap();
            ends.recv().unwrap();
        });
        tokio::select! {
            _ = work => unreachable!("it waits"),
            begun = begins => begun.unwrap(),
        }
        assert!(slots.enter("gone").now_or_never().is_none());
        end.send(()).unwrap();
        assert!(slots.enter("gone").await.is_ok());
        assert_eq!(slots.run("other", || 7).await.unwrap(), 7);
    }
}
