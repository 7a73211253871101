//! Who holds sessions, and how long they last.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, SessionId};

use crate::accounts::{Account, Realm};
use crate::single_sign_on::SSO_AUTHENTICATION_LASTS;

/// The use of a session is recorded in steps of at most this length, so that most requests write nothing.
const STEP_MAX: TimeDelta = TimeDelta::minutes(5);
/// Shorter idle limits have shorter steps: a session never ends earlier than this part of the limit.
const STEPS_PER_IDLE: i32 = 12;

/// An open session as its holder sees it in the list.
pub struct OpenSession {
    pub id: SessionId,
    pub created_at: DateTime<Utc>,
    pub last_seen_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    /// The IP address at the log-in; for IPv6 its /64 network.
    pub address: Option<String>,
    pub user_agent: Option<String>,
    /// `None` for console sessions.
    pub business: Option<BusinessId>,
}

/// Who holds sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionHolder {
    Account(Account),
    /// Everybody who has the token of the settings.
    Configuration,
}

impl<A: Into<Account>> From<A> for SessionHolder {
    fn from(account: A) -> Self {
        Self::Account(account.into())
    }
}

impl SessionHolder {
    pub fn realm(self) -> Realm {
        match self {
            Self::Account(account) => account.realm(),
            Self::Configuration => Realm::Staff,
        }
    }
}

/// How long the sessions of users, or those of the console, last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// A session ends this long after its last use.
    pub idle: TimeDelta,
    /// A session ends this long after its start, even when in use.
    pub max: TimeDelta,
}

impl Lifetimes {
    /// The end of a session that was last used then.
    pub fn end(self, created_at: DateTime<Utc>, used_at: DateTime<Utc>) -> DateTime<Utc> {
        (used_at + self.idle).min(created_at + self.max)
    }

    /// As [`Self::end`]. The provider's groups are checked at each log-in only, so its sessions end after hours.
    pub fn end_of(
        self,
        single_sign_on: bool,
        created_at: DateTime<Utc>,
        used_at: DateTime<Utc>,
    ) -> DateTime<Utc> {
        let end = self.end(created_at, used_at);
        if single_sign_on { end.min(created_at + SSO_AUTHENTICATION_LASTS) } else { end }
    }

    /// The shortest time between two recorded uses of a session.
    pub fn step(self) -> TimeDelta {
        STEP_MAX.min(self.idle / STEPS_PER_IDLE)
    }

    /// Whether using the session now moves its end by enough to write it.
    pub fn extend(
        self,
        (created_at, expires_at): (DateTime<Utc>, DateTime<Utc>),
        single_sign_on: bool,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let end = self.end_of(single_sign_on, created_at, now);
        (end - expires_at >= self.step()).then_some(end)
    }

    pub fn at(self, now: DateTime<Utc>) -> OpenAt {
        OpenAt { now, used_after: now - self.idle, created_after: now - self.max, lifetimes: self }
    }
}

/// Which sessions are open at a time. Also ends sessions that began under longer lifetimes.
#[derive(Clone, Copy)]
pub struct OpenAt {
    pub now: DateTime<Utc>,
    pub used_after: DateTime<Utc>,
    pub created_after: DateTime<Utc>,
    pub lifetimes: Lifetimes,
}

impl OpenAt {
    /// The end of a session that is not used any more. Without a last use: the end of one that stays in use.
    pub fn end(
        self,
        created_at: DateTime<Utc>,
        used_at: Option<DateTime<Utc>>,
        expires_at: DateTime<Utc>,
    ) -> DateTime<Utc> {
        let oldest = (created_at + self.lifetimes.max).min(expires_at);
        used_at.map_or(oldest, |used_at| oldest.min(used_at + self.lifetimes.idle))
    }

    /// Whether a use now must be recorded.
    pub fn is_due(self, used_at: DateTime<Utc>) -> bool {
        self.now - used_at >= self.lifetimes.step()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFETIMES: Lifetimes = Lifetimes { idle: TimeDelta::hours(12), max: TimeDelta::days(30) };

    fn at(hours: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).unwrap() + TimeDelta::hours(hours)
    }

    #[test]
    fn use_extends_a_session_up_to_its_longest_age() {
        assert_eq!(LIFETIMES.end(at(0), at(0)), at(12));
        assert_eq!(LIFETIMES.end(at(0), at(5)), at(17));
        assert_eq!(LIFETIMES.end(at(0), at(30 * 24 - 1)), at(30 * 24));
    }

    #[test]
    fn a_session_of_a_provider_ends_after_twelve_hours() {
        assert_eq!(LIFETIMES.end_of(true, at(0), at(5)), at(12));
        assert_eq!(LIFETIMES.end_of(false, at(0), at(5)), at(17));
        let short = Lifetimes { max: TimeDelta::hours(2), ..LIFETIMES };
        assert_eq!(short.end_of(true, at(0), at(1)), at(2));
    }

    #[test]
    fn short_idle_limits_are_recorded_in_short_steps() {
        assert_eq!(LIFETIMES.step(), TimeDelta::minutes(5));
        let short = Lifetimes { idle: TimeDelta::minutes(6), ..LIFETIMES };
        assert_eq!(short.step(), TimeDelta::seconds(30));
    }
}
