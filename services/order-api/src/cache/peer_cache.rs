//! Caches positive answers of a peer, never negative ones (SPECIFICATION §10.2): for at most 5 s from the start of the
//! call; while the peer is unreachable, for at most 60 s. An event about a change drops an answer immediately, and a
//! generation check prevents a call in flight from restoring it.
//!
//! A slow peer delays no caller for long while an older answer can be served: calls run in the background, at most one
//! per key, and all callers of that key share its answer.

use std::collections::HashMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::Clock;
use internal_api::CallError;
use lru::LruCache;
use tokio::sync::watch;
use tracing::Instrument;

const FRESH: TimeDelta = TimeDelta::seconds(5);
const STALE_MAX: TimeDelta = TimeDelta::seconds(60);
const ENTRIES_MAX: NonZeroUsize = NonZeroUsize::new(20_000).unwrap();
/// A slower peer counts as unreachable where a stale answer can be served.
const PATIENCE: Duration = Duration::from_secs(1);
/// After a failure, stale answers are served without waiting for this long. One call at a time probes the peer.
const UNREACHABLE: TimeDelta = TimeDelta::seconds(5);

/// Answers by key. Only answers for which `is_positive` is true are cached.
pub(super) struct PeerCache<V> {
    clock: Clock,
    is_positive: fn(&V) -> bool,
    inner: Mutex<Inner<V>>,
}

struct Inner<V> {
    entries: LruCache<String, Entry<V>>,
    /// Incremented by each invalidation. An answer to a call from an earlier generation is not cached.
    generation: u64,
    calls: HashMap<String, CallInFlight<V>>,
    unreachable_until: DateTime<Utc>,
}

struct Entry<V> {
    value: V,
    called_at: DateTime<Utc>,
}

type Answer<V> = Result<V, CallError>;
type PendingAnswer<V> = watch::Receiver<Option<Answer<V>>>;

struct CallInFlight<V> {
    generation: u64,
    answer: PendingAnswer<V>,
}

enum Lookup<V> {
    Fresh(V),
    /// A value to serve if the pending answer fails or is late. `None`: serve it without waiting.
    Stale(V, Option<PendingAnswer<V>>),
    Missing(PendingAnswer<V>),
}

impl<V: Clone + Send + Sync + 'static> PeerCache<V> {
    pub(super) fn new(clock: Clock, is_positive: fn(&V) -> bool) -> Arc<Self> {
        let inner = Inner {
            entries: LruCache::new(ENTRIES_MAX),
            generation: 0,
            calls: HashMap::new(),
            unreachable_until: DateTime::<Utc>::MIN_UTC,
        };
        Arc::new(Self { clock, is_positive, inner: Mutex::new(inner) })
    }

    /// The cached answer while it is fresh, else the answer of `fetch`.
    ///
    /// # Errors
    /// When `fetch` fails and no answer is young enough.
    pub(super) async fn get<F>(self: &Arc<Self>, key: &str, fetch: impl FnOnce() -> F) -> Result<V, CallError>
    where
        F: Future<Output = Answer<V>> + Send + 'static,
    {
        match self.look_up(key, fetch) {
            Lookup::Fresh(value) | Lookup::Stale(value, None) => Ok(value),
            Lookup::Missing(pending) => answer_of(pending).await,
            Lookup::Stale(value, Some(pending)) => {
                match tokio::time::timeout(PATIENCE, answer_of(pending)).await {
                    Ok(Err(CallError::Unavailable { service, reason })) => {
                        tracing::warn!(service, reason, "peer is unreachable; serving its last answer");
                        Ok(value)
                    }
                    Ok(answer) => answer,
                    Err(_) => {
                        self.mark_unreachable();
                        tracing::warn!("peer is slow; serving its last answer");
                        Ok(value)
                    }
                }
            }
        }
    }

    /// The last answer, if it may be served while the peer is unreachable.
    pub(super) fn last(&self, key: &str) -> Option<V> {
        let now = self.clock.now();
        let inner = self.lock();
        let entry = inner.entries.peek(key).filter(|entry| now - entry.called_at < STALE_MAX);
        entry.map(|entry| entry.value.clone())
    }

    fn look_up<F>(self: &Arc<Self>, key: &str, fetch: impl FnOnce() -> F) -> Lookup<V>
    where
        F: Future<Output = Answer<V>> + Send + 'static,
    {
        let now = self.clock.now();
        let mut inner = self.lock();
        let cached = inner.entries.get(key).map(|entry| (entry.value.clone(), now - entry.called_at));
        match cached {
            Some((value, age)) if age < FRESH => Lookup::Fresh(value),
            Some((value, age)) if age < STALE_MAX && now < inner.unreachable_until => {
                if inner.calls.is_empty() {
                    self.call(&mut inner, key, now, fetch());
                }
                Lookup::Stale(value, None)
            }
            Some((value, age)) if age < STALE_MAX => {
                Lookup::Stale(value, Some(self.join_or_call(&mut inner, key, now, fetch)))
            }
            _ => Lookup::Missing(self.join_or_call(&mut inner, key, now, fetch)),
        }
    }

    /// Shares the call in flight, unless it started before the latest invalidation.
    fn join_or_call<F>(
        self: &Arc<Self>,
        inner: &mut Inner<V>,
        key: &str,
        now: DateTime<Utc>,
        fetch: impl FnOnce() -> F,
    ) -> PendingAnswer<V>
    where
        F: Future<Output = Answer<V>> + Send + 'static,
    {
        match inner.calls.get(key).filter(|call| call.generation == inner.generation) {
            Some(call) => call.answer.clone(),
            None => self.call(inner, key, now, fetch()),
        }
    }

    /// Calls the peer in a task, which survives its callers. The answer is cached before any caller receives it.
    fn call(
        self: &Arc<Self>,
        inner: &mut Inner<V>,
        key: &str,
        called_at: DateTime<Utc>,
        fetch: impl Future<Output = Answer<V>> + Send + 'static,
    ) -> PendingAnswer<V> {
        let (sender, answer) = watch::channel(None);
        let generation = inner.generation;
        inner.calls.insert(key.to_owned(), CallInFlight { generation, answer: answer.clone() });
        let (cache, key) = (Arc::clone(self), key.to_owned());
        let call = async move {
            let _guard = CallGuard { cache: &cache, key: &key, generation };
            let answer = fetch.await;
            cache.store(&key, &answer, called_at, generation);
            sender.send_replace(Some(answer));
        };
        tokio::spawn(call.in_current_span());
        answer
    }

    /// Drops the entries that a change affects.
    pub(super) fn invalidate(&self, is_affected: impl Fn(&str, &V) -> bool) {
        let mut inner = self.lock();
        inner.generation += 1;
        let affected = inner.entries.iter().filter(|(key, entry)| is_affected(key, &entry.value));
        let affected: Vec<String> = affected.map(|(key, _)| key.clone()).collect();
        for key in affected {
            inner.entries.pop(&key);
        }
    }

    /// Drops all entries: events may have been missed.
    pub(super) fn clear(&self) {
        let mut inner = self.lock();
        inner.generation += 1;
        inner.entries.clear();
    }

    fn store(&self, key: &str, answer: &Answer<V>, called_at: DateTime<Utc>, generation: u64) {
        if matches!(answer, Err(CallError::Unavailable { .. })) {
            self.mark_unreachable();
            return;
        }
        let mut inner = self.lock();
        inner.unreachable_until = DateTime::<Utc>::MIN_UTC;
        match answer {
            Ok(value) if (self.is_positive)(value) => {
                if inner.generation == generation {
                    inner.entries.put(key.to_owned(), Entry { value: value.clone(), called_at });
                }
            }
            Ok(_) => {
                inner.entries.pop(key);
            }
            Err(_) => {}
        }
    }

    fn mark_unreachable(&self) {
        let until = self.clock.now() + UNREACHABLE;
        self.lock().unreachable_until = until;
    }
}

impl<V> PeerCache<V> {
    fn lock(&self) -> MutexGuard<'_, Inner<V>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a call from the calls in flight, also when its task panics.
struct CallGuard<'a, V> {
    cache: &'a PeerCache<V>,
    key: &'a str,
    generation: u64,
}

impl<V> Drop for CallGuard<'_, V> {
    fn drop(&mut self) {
        let mut inner = self.cache.lock();
        if inner.calls.get(self.key).is_some_and(|call| call.generation == self.generation) {
            inner.calls.remove(self.key);
        }
    }
}

async fn answer_of<V: Clone>(mut pending: PendingAnswer<V>) -> Answer<V> {
    match pending.wait_for(Option::is_some).await.map(|answer| answer.clone()) {
        Ok(Some(answer)) => answer,
        // The task panicked.
        Ok(None) | Err(_) => {
            Err(CallError::Unavailable { service: "peer", reason: "the call ended without an answer".into() })
        }
    }
}

#[cfg(test)]
mod tests;
