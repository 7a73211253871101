//! Keeps positive verdicts, never negative ones (SPECIFICATION §10): at most 5 s from the start of the asking; while the
//! deciding service cannot be reached, the last one serves for at most 60 s. News of a change drops a verdict at once,
//! and a generation check keeps an answer that was already under way from putting it back.
//!
//! Nobody waits long for a service that hangs, as long as a verdict is there to serve: the asking goes on by itself, one for
//! each key, and whoever wants its answer joins it.

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
const WHILE_UNREACHABLE: TimeDelta = TimeDelta::seconds(60);
const ENTRIES_MAX: NonZeroUsize = NonZeroUsize::new(20_000).unwrap();
/// A service that takes longer counts as one that cannot be reached, where there is a verdict to serve.
const PATIENCE: Duration = Duration::from_secs(1);
/// So long after it could not be reached nobody waits for it at all: one question at a time finds out whether it is back.
const AWAY: TimeDelta = TimeDelta::seconds(5);

/// Verdicts by key. A verdict that `is_positive` says no to is passed on and not kept.
pub struct VerdictCache<V> {
    clock: Clock,
    is_positive: fn(&V) -> bool,
    state: Mutex<State<V>>,
}

struct State<V> {
    entries: LruCache<String, Entry<V>>,
    /// Counts the news; an answer asked for before the latest news is not kept.
    generation: u64,
    /// The questions under way.
    asking: HashMap<String, Question<V>>,
    away_until: DateTime<Utc>,
}

struct Entry<V> {
    verdict: V,
    asked_at: DateTime<Utc>,
}

type Answer<V> = Result<V, CallError>;

struct Question<V> {
    generation: u64,
    answer: watch::Receiver<Option<Answer<V>>>,
}

/// What a look into the cache comes to.
enum Found<V> {
    Fresh(V),
    /// What serves if no answer comes soon; `None` in place of the question: no answer is waited for.
    Stale(V, Option<watch::Receiver<Option<Answer<V>>>>),
    Nothing(watch::Receiver<Option<Answer<V>>>),
}

impl<V: Clone + Send + Sync + 'static> VerdictCache<V> {
    pub fn new(clock: Clock, is_positive: fn(&V) -> bool) -> Arc<Self> {
        let state = State {
            entries: LruCache::new(ENTRIES_MAX),
            generation: 0,
            asking: HashMap::new(),
            away_until: DateTime::<Utc>::MIN_UTC,
        };
        Arc::new(Self { clock, is_positive, state: Mutex::new(state) })
    }

    /// The kept verdict while it is fresh; else what `ask` says.
    ///
    /// # Errors
    /// When `ask` fails and no verdict young enough is kept.
    pub async fn get<F>(self: &Arc<Self>, key: &str, ask: impl FnOnce() -> F) -> Result<V, CallError>
    where
        F: Future<Output = Answer<V>> + Send + 'static,
    {
        match self.look_up(key, ask) {
            Found::Fresh(verdict) | Found::Stale(verdict, None) => Ok(verdict),
            Found::Nothing(question) => answer_to(question).await,
            Found::Stale(verdict, Some(question)) => {
                match tokio::time::timeout(PATIENCE, answer_to(question)).await {
                    Ok(Err(CallError::Unavailable { service, reason })) => {
                        tracing::warn!(
                            service,
                            reason,
                            "using the last verdict while a peer cannot be reached"
                        );
                        Ok(verdict)
                    }
                    Ok(answered) => answered,
                    Err(_) => {
                        self.note_absence();
                        tracing::warn!("using the last verdict while a peer takes its time");
                        Ok(verdict)
                    }
                }
            }
        }
    }

    /// The last verdict, if it would serve while the deciding service cannot be reached.
    pub fn last(&self, key: &str) -> Option<V> {
        let now = self.clock.now();
        let state = self.lock();
        state
            .entries
            .peek(key)
            .filter(|entry| now - entry.asked_at < WHILE_UNREACHABLE)
            .map(|entry| entry.verdict.clone())
    }

    fn look_up<F>(self: &Arc<Self>, key: &str, ask: impl FnOnce() -> F) -> Found<V>
    where
        F: Future<Output = Answer<V>> + Send + 'static,
    {
        let now = self.clock.now();
        let mut state = self.lock();
        let kept = state.entries.get(key).map(|entry| (entry.verdict.clone(), now - entry.asked_at));
        match kept {
            Some((verdict, age)) if age < FRESH => Found::Fresh(verdict),
            Some((verdict, age)) if age < WHILE_UNREACHABLE && now < state.away_until => {
                if state.asking.is_empty() {
                    self.ask(&mut state, key, now, ask());
                }
                Found::Stale(verdict, None)
            }
            Some((verdict, age)) if age < WHILE_UNREACHABLE => {
                Found::Stale(verdict, Some(self.join(&mut state, key, now, ask)))
            }
            _ => Found::Nothing(self.join(&mut state, key, now, ask)),
        }
    }

    /// The answer under way, unless it is to a question from before the latest news.
    fn join<F>(
        self: &Arc<Self>,
        state: &mut State<V>,
        key: &str,
        now: DateTime<Utc>,
        ask: impl FnOnce() -> F,
    ) -> watch::Receiver<Option<Answer<V>>>
    where
        F: Future<Output = Answer<V>> + Send + 'static,
    {
        match state.asking.get(key).filter(|question| question.generation == state.generation) {
            Some(question) => question.answer.clone(),
            None => self.ask(state, key, now, ask()),
        }
    }

    /// Asks, whoever goes away meanwhile. What comes of it is kept before anybody hears of it.
    fn ask(
        self: &Arc<Self>,
        state: &mut State<V>,
        key: &str,
        asked_at: DateTime<Utc>,
        ask: impl Future<Output = Answer<V>> + Send + 'static,
    ) -> watch::Receiver<Option<Answer<V>>> {
        let (tell, answer) = watch::channel(None);
        let generation = state.generation;
        state.asking.insert(key.to_owned(), Question { generation, answer: answer.clone() });
        let (cache, key) = (Arc::clone(self), key.to_owned());
        let asking = async move {
            let _under_way = UnderWay { cache: &cache, key: &key, generation };
            let answer = ask.await;
            cache.keep(&key, &answer, asked_at, generation);
            tell.send_replace(Some(answer));
        };
        tokio::spawn(asking.in_current_span());
        answer
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

    fn keep(&self, key: &str, answer: &Answer<V>, asked_at: DateTime<Utc>, generation: u64) {
        if matches!(answer, Err(CallError::Unavailable { .. })) {
            self.note_absence();
            return;
        }
        let mut state = self.lock();
        state.away_until = DateTime::<Utc>::MIN_UTC;
        match answer {
            Ok(verdict) if (self.is_positive)(verdict) => {
                if state.generation == generation {
                    state.entries.put(key.to_owned(), Entry { verdict: verdict.clone(), asked_at });
                }
            }
            Ok(_) => {
                state.entries.pop(key);
            }
            Err(_) => {}
        }
    }

    fn note_absence(&self) {
        let until = self.clock.now() + AWAY;
        self.lock().away_until = until;
    }
}

impl<V> VerdictCache<V> {
    fn lock(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a question off the list however it ends.
struct UnderWay<'a, V> {
    cache: &'a VerdictCache<V>,
    key: &'a str,
    generation: u64,
}

impl<V> Drop for UnderWay<'_, V> {
    fn drop(&mut self) {
        let mut state = self.cache.lock();
        if state.asking.get(self.key).is_some_and(|question| question.generation == self.generation) {
            state.asking.remove(self.key);
        }
    }
}

async fn answer_to<V: Clone>(mut question: watch::Receiver<Option<Answer<V>>>) -> Answer<V> {
    match question.wait_for(Option::is_some).await.map(|answer| answer.clone()) {
        Ok(Some(answer)) => answer,
        // The asking ended without an answer.
        Ok(None) | Err(_) => {
            Err(CallError::Unavailable { service: "peer", reason: "the question was given up".into() })
        }
    }
}

#[cfg(test)]
mod tests;
