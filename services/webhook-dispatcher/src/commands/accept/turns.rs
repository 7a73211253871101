//! The events of an order take turns while one of them is sent eagerly: the next one leaves only after the outcome of the
//! one before is stored.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::OrderId;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

type Lock = Arc<AsyncMutex<()>>;

/// Clones share the turns.
#[derive(Clone, Default)]
pub(super) struct Turns(Arc<Mutex<HashMap<OrderId, Lock>>>);

/// The turn of one event of an order, until dropped.
pub(super) struct Turn {
    turns: Turns,
    order: OrderId,
    lock: Lock,
    /// None while it waits for its turn.
    guard: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    /// Waits for the earlier events of the order, in the order of the calls. `hurry` is called before a wait.
    pub(super) async fn take(&self, order: OrderId, hurry: impl FnOnce()) -> Turn {
        let lock = self.lock().entry(order).or_default().clone();
        let mut turn = Turn { turns: self.clone(), order, lock, guard: None };
        turn.guard = match turn.lock.clone().try_lock_owned() {
            Ok(guard) => Some(guard),
            Err(_) => {
                hurry();
                Some(turn.lock.clone().lock_owned().await)
            }
        };
        turn
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<OrderId, Lock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Whether another event of the order waits.
    pub(super) fn is_awaited(&self) -> bool {
        Arc::strong_count(&self.lock) > self.own_references()
    }

    /// The map's reference, and those of this turn.
    fn own_references(&self) -> usize {
        2 + usize::from(self.guard.is_some())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut turns = self.turns.lock();
        if !self.is_awaited() {
            turns.remove(&self.order);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn events_of_an_order_take_turns_in_order() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let [order, other] = [(); 2].map(|()| OrderId::generate(&clock, &entropy));
        let (turns, hurried) = (Turns::default(), std::cell::Cell::new(0));
        let hurry = || hurried.set(hurried.get() + 1);
        let first = turns.take(order, hurry).now_or_never().expect("free");
        assert!(!first.is_awaited() && turns.take(other, hurry).now_or_never().is_some());
        assert_eq!(hurried.get(), 0);
        let mut second = std::pin::pin!(turns.take(order, hurry));
        assert!(second.as_mut().now_or_never().is_none());
        let mut third = Box::pin(turns.take(order, hurry));
        assert!(third.as_mut().now_or_never().is_none());
        assert!(first.is_awaited());
        assert_eq!(hurried.get(), 2);
        drop(first);
        assert!(third.as_mut().now_or_never().is_none(), "the second comes first");
        let second = second.as_mut().now_or_never().expect("its turn");
        drop(third);
        assert!(!second.is_awaited(), "the third has gone");
        drop(second);
        assert!(turns.lock().is_empty());
    }
}
