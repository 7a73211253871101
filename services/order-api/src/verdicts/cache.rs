//! Keeps positive verdicts, never negative ones (`design.md` §3): at most 5 s from the start of the asking; while the
//! deciding service cannot be reached, the last one serves for at most 60 s. News of a change drops a verdict at once,
//! and a generation check keeps an answer that was already under way from putting it back.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use domain::Clock;
use internal_api::CallError;
use lru::LruCache;

const FRESH: TimeDelta = TimeDelta::seconds(5);
const WHILE_UNREACHABLE: TimeDelta = TimeDelta::seconds(60);
const ENTRIES_MAX: NonZeroUsize = NonZeroUsize::new(20_000).unwrap();

pub struct VerdictCache<V> {
    clock: Clock,
    state: Mutex<State<V>>,
}

struct State<V> {
    entries: LruCache<String, Entry<V>>,
    /// Counts the news; an answer asked for before the latest news is not kept.
    generation: u64,
}

struct Entry<V> {
    verdict: V,
    asked_at: DateTime<Utc>,
}

impl<V: Clone> VerdictCache<V> {
    pub fn new(clock: Clock) -> Self {
        Self { clock, state: Mutex::new(State { entries: LruCache::new(ENTRIES_MAX), generation: 0 }) }
    }

    /// The kept verdict while it is fresh; else what `ask` says, where `None` is a negative verdict.
    ///
    /// # Errors
    /// When `ask` fails and no verdict young enough is kept.
    pub async fn get<F>(&self, key: &str, ask: impl FnOnce() -> F) -> Result<Option<V>, CallError>
    where
        F: Future<Output = Result<Option<V>, CallError>>,
    {
        let asked_at = self.clock.now();
        let generation = {
            let mut state = self.lock();
            if let Some(entry) = state.entries.get(key).filter(|entry| asked_at - entry.asked_at < FRESH) {
                return Ok(Some(entry.verdict.clone()));
            }
            state.generation
        };
        match ask().await {
            Ok(verdict) => {
                self.keep(key, verdict.as_ref(), asked_at, generation);
                Ok(verdict)
            }
            Err(CallError::Unavailable { service, reason }) => {
                let mut state = self.lock();
                match state.entries.get(key).filter(|entry| asked_at - entry.asked_at < WHILE_UNREACHABLE) {
                    Some(entry) => {
                        tracing::warn!(
                            service,
                            reason,
                            "using the last verdict while a peer cannot be reached"
                        );
                        Ok(Some(entry.verdict.clone()))
                    }
                    None => Err(CallError::Unavailable { service, reason }),
                }
            }
            Err(refused) => Err(refused),
        }
    }

    /// Drops the verdicts that are about what changed.
    pub fn drop_where(&self, is_about: impl Fn(&str, &V) -> bool) {
        let mut state = self.lock();
        state.generation += 1;
        let outdated: Vec<String> = state
            .entries
            .iter()
            .filter(|(key, entry)| is_about(key, &entry.verdict))
            .map(|(key, _)| key.clone())
            .collect();
        for key in outdated {
            state.entries.pop(&key);
        }
    }

    /// Drops all: news may have been missed.
    pub fn clear(&self) {
        let mut state = self.lock();
        state.generation += 1;
        state.entries.clear();
    }

    fn keep(&self, key: &str, verdict: Option<&V>, asked_at: DateTime<Utc>, generation: u64) {
        let mut state = self.lock();
        match verdict {
            Some(verdict) if state.generation == generation => {
                state.entries.put(key.to_owned(), Entry { verdict: verdict.clone(), asked_at });
            }
            Some(_) => {}
            None => {
                state.entries.pop(key);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unreachable() -> CallError {
        CallError::Unavailable { service: "peer", reason: "gone".into() }
    }

    fn cache() -> (Clock, VerdictCache<u32>) {
        let clock = Clock::manual(DateTime::UNIX_EPOCH);
        (clock.clone(), VerdictCache::new(clock))
    }

    #[tokio::test]
    async fn a_positive_verdict_is_kept_five_seconds_and_a_negative_one_never() {
        let (clock, cache) = cache();
        assert_eq!(cache.get("k", async || Ok(None)).await.unwrap(), None);
        assert_eq!(cache.get("k", async || Ok(Some(1))).await.unwrap(), Some(1));
        clock.advance(TimeDelta::milliseconds(4_999));
        assert_eq!(cache.get("k", async || panic!("asked")).await.unwrap(), Some(1));
        clock.advance(TimeDelta::milliseconds(1));
        assert_eq!(cache.get("k", async || Ok(None)).await.unwrap(), None);
        assert!(
            cache.get("k", async || Err(unreachable())).await.is_err(),
            "a negative answer drops the old one"
        );
    }

    #[tokio::test]
    async fn the_last_verdict_serves_a_minute_while_the_peer_is_away() {
        let (clock, cache) = cache();
        cache.get("k", async || Ok(Some(1))).await.unwrap();
        clock.advance(TimeDelta::seconds(59));
        assert_eq!(cache.get("k", async || Err(unreachable())).await.unwrap(), Some(1));
        clock.advance(TimeDelta::seconds(1));
        assert!(cache.get("k", async || Err(unreachable())).await.is_err());
    }

    #[tokio::test]
    async fn news_drops_a_verdict_and_keeps_an_answer_under_way_out() {
        let (_clock, cache) = cache();
        cache.get("k", async || Ok(Some(1))).await.unwrap();
        cache.drop_where(|_, verdict| *verdict == 1);
        assert!(cache.get("k", async || Err(unreachable())).await.is_err());
        let asked = cache.get("k", async || {
            cache.drop_where(|_, _| false);
            Ok(Some(2))
        });
        assert_eq!(asked.await.unwrap(), Some(2));
        assert_eq!(cache.get("k", async || Ok(Some(3))).await.unwrap(), Some(3), "2 was not kept");
    }
}
