//! Calls of the events feed that wait for new events, in memory. One worker looks for the events of all of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId};
use tokio::sync::Notify;

/// At once, per key and instance.
pub const WAITING_PER_KEY_MAX: usize = 2;
/// Of all keys. They hold connections, most of which must stay free for other calls.
const WAITING_MAX: usize = 2_000;

/// Which limit has no place for another waiting call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooManyWaiting {
    #[error("too many calls of the key wait for events")]
    OfKey,
    #[error("too many calls wait for events")]
    OfAll,
}

#[derive(Clone, Default)]
pub struct FeedWaiters(Arc<Mutex<Calls>>);

#[derive(Default)]
struct Calls {
    last_number: u64,
    by_number: BTreeMap<u64, Call>,
}

struct Call {
    key: ApiKeyId,
    business: BusinessId,
    /// Events from this time on are new to it. None while it reads.
    since: Option<DateTime<Utc>>,
    woken: Arc<Notify>,
}

/// A call that waits for events from a time on.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    number: u64,
    pub business: BusinessId,
    pub since: DateTime<Utc>,
}

/// The place of a call among the waiting ones, until it is dropped.
pub struct WaitingCall {
    waiters: FeedWaiters,
    number: u64,
    woken: Arc<Notify>,
}

impl FeedWaiters {
    /// # Errors
    /// When too many calls wait.
    pub fn enter(&self, key: ApiKeyId, business: BusinessId) -> Result<WaitingCall, TooManyWaiting> {
        let mut calls = self.calls();
        let of_key = calls.by_number.values().filter(|call| call.key == key).count();
        if of_key >= WAITING_PER_KEY_MAX {
            return Err(TooManyWaiting::OfKey);
        }
        if calls.by_number.len() >= WAITING_MAX {
            return Err(TooManyWaiting::OfAll);
        }
        calls.last_number += 1;
        let (number, woken) = (calls.last_number, Arc::new(Notify::new()));
        calls.by_number.insert(number, Call { key, business, since: None, woken: Arc::clone(&woken) });
        Ok(WaitingCall { waiters: self.clone(), number, woken })
    }

    /// The number of calls, waiting or reading.
    pub fn count(&self) -> usize {
        self.calls().by_number.len()
    }

    pub fn waiting(&self) -> Vec<Waiting> {
        let calls = self.calls();
        let waiting = calls.by_number.iter().filter_map(|(number, call)| {
            Some(Waiting { number: *number, business: call.business, since: call.since? })
        });
        waiting.collect()
    }

    pub fn wake(&self, waiting: Waiting) {
        if let Some(call) = self.calls().by_number.get_mut(&waiting.number) {
            call.since = None;
            call.woken.notify_one();
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingCall {
    /// Waits until the business has an event from this time on.
    pub async fn event_from(&self, since: DateTime<Utc>) {
        if let Some(call) = self.waiters.calls().by_number.get_mut(&self.number) {
            call.since = Some(since);
        }
        self.woken.notified().await;
    }
}

impl Drop for WaitingCall {
    fn drop(&mut self) {
        self.waiters.calls().by_number.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::{Clock, Entropy};
    use tokio::time::timeout;

    use super::*;

    fn key(seed: u64) -> ApiKeyId {
        ApiKeyId::generate(&Clock::manual(DateTime::UNIX_EPOCH), &Entropy::seeded(seed))
    }

    #[tokio::test]
    async fn a_key_has_two_places_and_a_dropped_call_frees_its_own() {
        let (waiters, business) = (FeedWaiters::default(), BusinessId::first_of(DateTime::UNIX_EPOCH));
        let first = waiters.enter(key(1), business).unwrap();
        let _second = waiters.enter(key(1), business).unwrap();
        assert_eq!(waiters.enter(key(1), business).err(), Some(TooManyWaiting::OfKey));
        assert!(waiters.enter(key(2), business).is_ok());
        drop(first);
        assert!(waiters.enter(key(1), business).is_ok());
        assert_eq!(waiters.count(), 1);
    }

    #[tokio::test]
    async fn the_places_are_bounded() {
        let (waiters, business) = (FeedWaiters::default(), BusinessId::first_of(DateTime::UNIX_EPOCH));
        let enter = |seed| waiters.enter(key(seed), business);
        let taken: Vec<_> = (1..).map(enter).map_while(Result::ok).collect();
        assert_eq!(taken.len(), WAITING_MAX);
        assert_eq!(enter(0).err(), Some(TooManyWaiting::OfAll));
    }

    /// A call that is woken before it is polled again must not wait for another event.
    #[tokio::test]
    async fn no_wake_up_is_lost() {
        let (waiters, business) = (FeedWaiters::default(), BusinessId::first_of(DateTime::UNIX_EPOCH));
        let call = waiters.enter(key(1), business).unwrap();
        assert!(waiters.waiting().is_empty(), "it reads");
        let mut waiting = std::pin::pin!(call.event_from(DateTime::UNIX_EPOCH));
        assert!(timeout(Duration::ZERO, &mut waiting).await.is_err());
        let of_all = waiters.waiting();
        assert_eq!((of_all.len(), of_all[0].since), (1, DateTime::UNIX_EPOCH));
        waiters.wake(of_all[0]);
        timeout(Duration::from_secs(60), waiting).await.unwrap();
        assert!(waiters.waiting().is_empty(), "it reads again");
    }
}
