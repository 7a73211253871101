//! Sessions of users, and how long they last.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, SessionId, UserId};

use super::Role;

/// A session ends this long after its last use.
const IDLE_MAX: TimeDelta = TimeDelta::hours(12);
/// A session ends this long after its start, even when in use.
const AGE_MAX: TimeDelta = TimeDelta::days(30);
/// The end of a session is extended in steps of at least this length, so that most requests write nothing.
const EXTENSION_MIN: TimeDelta = TimeDelta::minutes(5);

/// A logged-in user.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) user: UserId,
    pub(crate) email: String,
    pub(crate) email_verified: bool,
    pub(crate) name: Option<String>,
    pub(crate) role: Role,
    pub(crate) business: BusinessId,
    pub(crate) business_name: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) expires_at: DateTime<Utc>,
    /// When the user last authenticated.
    pub(crate) authenticated_at: DateTime<Utc>,
    /// Whether the role requires a second factor that the user does not have yet.
    pub(crate) must_enrol: bool,
}

/// An open session as its user sees it in the list.
pub(crate) struct OpenSession {
    pub(crate) id: SessionId,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) last_seen_at: DateTime<Utc>,
    pub(crate) expires_at: DateTime<Utc>,
    pub(crate) user_agent: Option<String>,
}

/// The new end of a session that is used now.
pub(crate) fn expiry(created_at: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    (now + IDLE_MAX).min(created_at + AGE_MAX)
}

/// Whether using the session now extends its end by enough to write it.
pub(crate) fn is_due_for_extension(session: &Session, now: DateTime<Utc>) -> bool {
    expiry(session.created_at, now) - session.expires_at >= EXTENSION_MIN
}

/// Sessions that started before this time have ended.
pub(crate) fn oldest_session_start(now: DateTime<Utc>) -> DateTime<Utc> {
    now - AGE_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).unwrap() + TimeDelta::hours(hours)
    }

    #[test]
    fn use_extends_a_session_up_to_thirty_days() {
        assert_eq!(expiry(at(0), at(0)), at(12));
        assert_eq!(expiry(at(0), at(5)), at(17));
        assert_eq!(expiry(at(0), at(30 * 24 - 1)), at(30 * 24));
    }
}
