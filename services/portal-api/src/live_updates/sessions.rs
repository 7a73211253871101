//! Watches the sessions of open streams. One periodic check serves all streams, so that many open pages cost the database no
//! more than a few.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::{BusinessId, SessionId};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::domain::Session;

/// A session is due for its next check after this time. With the interval of the checks (1 s), a stream ends less than five
/// seconds after its session.
const RECHECK_AFTER: Duration = Duration::from_secs(3);

/// The result of the latest check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionStatus {
    Open,
    Ended,
}

pub(crate) type SessionKey = (BusinessId, SessionId);

#[derive(Default)]
pub(crate) struct SessionMonitor {
    watched: Mutex<HashMap<SessionKey, Watched>>,
}

struct Watched {
    status: watch::Sender<SessionStatus>,
    due: Instant,
}

/// The session of one stream.
pub(crate) struct WatchedSession {
    status: watch::Receiver<SessionStatus>,
    key: SessionKey,
    monitor: Arc<SessionMonitor>,
}

impl SessionMonitor {
    pub(crate) fn watch(self: &Arc<Self>, session: &Session) -> WatchedSession {
        let key = (session.business, session.id);
        let mut watched = self.lock();
        let entry = watched.entry(key).or_insert_with(|| Watched {
            status: watch::Sender::new(SessionStatus::Open),
            due: Instant::now() + RECHECK_AFTER,
        });
        WatchedSession { status: entry.status.subscribe(), key, monitor: self.clone() }
    }

    /// The sessions to check now.
    pub(crate) fn due(&self, now: Instant) -> Vec<SessionKey> {
        let mut watched = self.lock();
        // Two streams that close at the same moment both count each other, and leave the entry behind.
        watched.retain(|_, entry| entry.status.receiver_count() > 0);
        watched.iter().filter(|(_, entry)| entry.due <= now).map(|(key, _)| *key).collect()
    }

    /// Reports the result of a check to the streams.
    pub(crate) fn report(&self, checked: &[SessionKey], open: &[SessionId], now: Instant) {
        let mut watched = self.lock();
        for key in checked {
            let Some(entry) = watched.get_mut(key) else { continue };
            let status = if open.contains(&key.1) { SessionStatus::Open } else { SessionStatus::Ended };
            entry.due = now + RECHECK_AFTER;
            entry.status.send_replace(status);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WatchedSession {
    /// Waits for the next check.
    pub(crate) async fn checked(&mut self) -> SessionStatus {
        match self.status.changed().await {
            Ok(()) => *self.status.borrow_and_update(),
            Err(_) => SessionStatus::Ended,
        }
    }
}

impl Drop for WatchedSession {
    fn drop(&mut self) {
        let mut watched = self.monitor.lock();
        // The count still includes this receiver.
        if watched.get(&self.key).is_some_and(|entry| entry.status.receiver_count() <= 1) {
            watched.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use domain::{AccountId, Clock, Entropy, UserId};

    use super::*;
    use crate::domain::Role;

    fn session(number: u64) -> Session {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(number));
        let (business, user) = (BusinessId::generate(&clock, &entropy), UserId::generate(&clock, &entropy));
        Session {
            id: SessionId::generate(&clock, &entropy),
            user,
            account: AccountId::generate(&clock, &entropy),
            email: String::new(),
            email_verified: true,
            name: None,
            role: Role::Viewer,
            business,
            business_name: String::new(),
            created_at: DateTime::UNIX_EPOCH,
            expires_at: DateTime::UNIX_EPOCH,
            authenticated_at: DateTime::UNIX_EPOCH,
            must_enrol: false,
            single_sign_on: false,
            password_refused: false,
        }
    }

    #[tokio::test]
    async fn all_streams_of_a_session_share_one_check_until_the_last_one_closes() {
        let monitor = Arc::new(SessionMonitor::default());
        let (ends, stays) = (session(1), session(2));
        let mut tabs: Vec<_> = (0..5).map(|_| monitor.watch(&ends)).collect();
        let mut other = monitor.watch(&stays);
        assert!(monitor.due(Instant::now()).is_empty(), "the session was checked when the stream started");
        let later = Instant::now() + RECHECK_AFTER;
        let due = monitor.due(later);
        assert_eq!(due.len(), 2);

        monitor.report(&due, &[stays.id], later);
        for tab in &mut tabs {
            assert_eq!(tab.checked().await, SessionStatus::Ended);
        }
        assert_eq!(other.checked().await, SessionStatus::Open);
        assert!(monitor.due(later).is_empty());
        drop(tabs.pop());
        assert_eq!(monitor.due(later + RECHECK_AFTER).len(), 2);
        drop(tabs);
        assert_eq!(monitor.due(later + RECHECK_AFTER), [(stays.business, stays.id)]);
    }
}
