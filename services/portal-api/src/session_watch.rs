//! Whether the sessions of open streams have ended, asked once for all of them: many open pages cost the database no more
//! than a few.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::{BusinessId, SessionId};
use postgres::StoreError;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::domain::Session;
use crate::store::sessions;

/// How often the watch looks which sessions are due.
const TICK: Duration = Duration::from_secs(1);
/// How long after a check a session is due again: with the tick, a stream outlives its session by less than the five seconds
/// that a revoked key may.
const RECHECK_AFTER: Duration = Duration::from_secs(3);
/// Sessions in one query.
const BATCH_MAX: usize = 500;

/// What the last check said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Open,
    Ended,
}

type Key = (BusinessId, SessionId);

#[derive(Default)]
pub(crate) struct SessionWatch {
    watched: Mutex<HashMap<Key, Watched>>,
}

struct Watched {
    verdict: watch::Sender<Verdict>,
    due: Instant,
}

/// The session of one stream.
pub(crate) struct WatchedSession {
    verdict: watch::Receiver<Verdict>,
    key: Key,
    watch: Arc<SessionWatch>,
}

impl SessionWatch {
    pub(crate) fn follow(self: &Arc<Self>, session: &Session) -> WatchedSession {
        let key = (session.business, session.id);
        let mut watched = self.lock();
        let entry = watched.entry(key).or_insert_with(|| Watched {
            verdict: watch::Sender::new(Verdict::Open),
            due: Instant::now() + RECHECK_AFTER,
        });
        WatchedSession { verdict: entry.verdict.subscribe(), key, watch: self.clone() }
    }

    fn due(&self, now: Instant) -> Vec<Key> {
        let mut watched = self.lock();
        // The last two streams of a session may leave at once, each while the other is still counted.
        watched.retain(|_, entry| entry.verdict.receiver_count() > 0);
        watched.iter().filter(|(_, entry)| entry.due <= now).map(|(key, _)| *key).collect()
    }

    /// Says to the streams of these sessions which of them are open.
    fn tell(&self, checked: &[Key], open: &[SessionId], now: Instant) {
        let mut watched = self.lock();
        for key in checked {
            let Some(entry) = watched.get_mut(key) else { continue };
            let verdict = if open.contains(&key.1) { Verdict::Open } else { Verdict::Ended };
            entry.due = now + RECHECK_AFTER;
            entry.verdict.send_replace(verdict);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WatchedSession {
    /// Waits for the next check.
    pub(crate) async fn checked(&mut self) -> Verdict {
        match self.verdict.changed().await {
            Ok(()) => *self.verdict.borrow_and_update(),
            Err(_) => Verdict::Ended,
        }
    }
}

impl Drop for WatchedSession {
    fn drop(&mut self) {
        let mut watched = self.watch.lock();
        // This receiver is still counted.
        if watched.get(&self.key).is_some_and(|entry| entry.verdict.receiver_count() <= 1) {
            watched.remove(&self.key);
        }
    }
}

/// A worker: checks what is due until it is stopped.
pub(crate) async fn keep_checking(app: App, stop: CancellationToken) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        let due = app.session_watch.due(Instant::now());
        for batch in due.chunks(BATCH_MAX) {
            let open = open_of(&app, batch).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "the sessions of streams could not be checked; none is logged out");
                batch.iter().map(|(_, session)| *session).collect()
            });
            app.session_watch.tell(batch, &open, Instant::now());
        }
    }
}

async fn open_of(app: &App, sessions: &[Key]) -> Result<Vec<SessionId>, StoreError> {
    let now = app.clock.now();
    app.database.read(async |conn| sessions::open_of(conn, sessions, now).await).await
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use domain::{Clock, Entropy, UserId};

    use super::*;
    use crate::domain::Role;

    fn session(number: u64) -> Session {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(number));
        Session {
            id: SessionId::generate(&clock, &entropy),
            user: UserId::generate(&clock, &entropy),
            email: String::new(),
            role: Role::Viewer,
            business: BusinessId::generate(&clock, &entropy),
            business_name: String::new(),
            created_at: DateTime::UNIX_EPOCH,
            expires_at: DateTime::UNIX_EPOCH,
        }
    }

    #[tokio::test]
    async fn all_streams_of_a_session_share_its_check_and_it_is_forgotten_with_the_last() {
        let watch = Arc::new(SessionWatch::default());
        let (ends, stays) = (session(1), session(2));
        let mut tabs: Vec<_> = (0..5).map(|_| watch.follow(&ends)).collect();
        let mut other = watch.follow(&stays);
        assert!(watch.due(Instant::now()).is_empty(), "a stream begins with a session that was just checked");
        let later = Instant::now() + RECHECK_AFTER;
        let due = watch.due(later);
        assert_eq!(due.len(), 2);

        watch.tell(&due, &[stays.id], later);
        for tab in &mut tabs {
            assert_eq!(tab.checked().await, Verdict::Ended);
        }
        assert_eq!(other.checked().await, Verdict::Open);
        assert!(watch.due(later).is_empty());
        drop(tabs.pop());
        assert_eq!(watch.due(later + RECHECK_AFTER).len(), 2);
        drop(tabs);
        assert_eq!(watch.due(later + RECHECK_AFTER), [(stays.business, stays.id)]);
    }
}
