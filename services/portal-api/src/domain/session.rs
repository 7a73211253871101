//! A log-in: who it is, and how long it lasts.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, SessionId, UserId};

use super::Role;

/// How long a session lasts after it was last used.
const IDLE_MAX: TimeDelta = TimeDelta::hours(12);
/// How long it lasts at all.
const AGE_MAX: TimeDelta = TimeDelta::days(30);
/// A session's end is moved only when that moves it this far, so that reading pages does not write.
const EXTENSION_MIN: TimeDelta = TimeDelta::minutes(5);

/// Somebody who is logged in.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) user: UserId,
    pub(crate) email: String,
    pub(crate) role: Role,
    pub(crate) business: BusinessId,
    pub(crate) business_name: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) expires_at: DateTime<Utc>,
}

/// When a session that is used now ends.
pub(crate) fn expiry(created_at: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    (now + IDLE_MAX).min(created_at + AGE_MAX)
}

/// Whether its use now is worth writing down.
pub(crate) fn is_due_for_extension(session: &Session, now: DateTime<Utc>) -> bool {
    expiry(session.created_at, now) - session.expires_at >= EXTENSION_MIN
}

/// Sessions that began before this have ended, whatever else is known of them.
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
    fn use_moves_the_end_but_not_beyond_thirty_days() {
        assert_eq!(expiry(at(0), at(0)), at(12));
        assert_eq!(expiry(at(0), at(5)), at(17));
        assert_eq!(expiry(at(0), at(30 * 24 - 1)), at(30 * 24));
    }
}
