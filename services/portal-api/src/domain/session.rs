//! Sessions of users and of the console, and how long they last.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{AccountId, BusinessId, SessionId, UserId};

use super::{Account, Realm, Role, SSO_AUTHENTICATION_LASTS};

/// The use of a session is recorded in steps of at most this length, so that most requests write nothing.
const STEP_MAX: TimeDelta = TimeDelta::minutes(5);
/// Shorter idle limits have shorter steps: a session never ends earlier than this part of the limit.
const STEPS_PER_IDLE: i32 = 12;

/// A logged-in user.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// The user in this business. Audit entries and rights in the business are theirs.
    pub(crate) user: UserId,
    /// The person's address, password and second factor, for all their businesses.
    pub(crate) account: AccountId,
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
    /// Whether the identity provider of the business has authenticated the user. Such a session counts for this business only.
    pub(crate) single_sign_on: bool,
    /// Whether a password no longer opens sessions of this role.
    pub(crate) password_refused: bool,
}

impl Session {
    /// Whether it may change the account (the password, the e-mail address, the second factor, other sessions), and switch to
    /// another business. A provider that
    /// one business has chosen must not take over an account, which belongs to its person.
    pub(crate) fn acts_on_account(&self) -> bool {
        !self.single_sign_on
    }
}

/// An open session as its holder sees it in the list.
pub(crate) struct OpenSession {
    pub(crate) id: SessionId,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) last_seen_at: DateTime<Utc>,
    pub(crate) expires_at: DateTime<Utc>,
    /// The IP address at the log-in; for IPv6 its /64 network.
    pub(crate) address: Option<String>,
    pub(crate) user_agent: Option<String>,
    /// The business and its name. `None` for console sessions.
    pub(crate) business: Option<(BusinessId, String)>,
}

/// Who holds sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionHolder {
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
    pub(crate) fn realm(self) -> Realm {
        match self {
            Self::Account(account) => account.realm(),
            Self::Configuration => Realm::Staff,
        }
    }
}

/// How long the sessions of users, or those of the console, last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lifetimes {
    /// A session ends this long after its last use.
    pub(crate) idle: TimeDelta,
    /// A session ends this long after its start, even when in use.
    pub(crate) max: TimeDelta,
}

impl Lifetimes {
    /// The end of a session that was last used then.
    pub(crate) fn end(self, created_at: DateTime<Utc>, used_at: DateTime<Utc>) -> DateTime<Utc> {
        (used_at + self.idle).min(created_at + self.max)
    }

    /// As [`Self::end`]. The provider's groups are checked at each log-in only, so its sessions end after hours.
    pub(crate) fn end_of(
        self,
        single_sign_on: bool,
        created_at: DateTime<Utc>,
        used_at: DateTime<Utc>,
    ) -> DateTime<Utc> {
        let end = self.end(created_at, used_at);
        if single_sign_on { end.min(created_at + SSO_AUTHENTICATION_LASTS) } else { end }
    }

    /// The shortest time between two recorded uses of a session.
    pub(crate) fn step(self) -> TimeDelta {
        STEP_MAX.min(self.idle / STEPS_PER_IDLE)
    }

    /// Whether using the session now moves its end by enough to write it.
    pub(crate) fn extend(self, session: &Session, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let end = self.end_of(session.single_sign_on, session.created_at, now);
        (end - session.expires_at >= self.step()).then_some(end)
    }

    pub(crate) fn at(self, now: DateTime<Utc>) -> OpenAt {
        OpenAt { now, used_after: now - self.idle, created_after: now - self.max, lifetimes: self }
    }
}

/// Which sessions are open at a time. Also ends sessions that began under longer lifetimes.
#[derive(Clone, Copy)]
pub(crate) struct OpenAt {
    pub(crate) now: DateTime<Utc>,
    pub(crate) used_after: DateTime<Utc>,
    pub(crate) created_after: DateTime<Utc>,
    pub(crate) lifetimes: Lifetimes,
}

impl OpenAt {
    /// The end of a session that is not used any more. Without a last use: the end of one that stays in use.
    pub(crate) fn end(
        self,
        created_at: DateTime<Utc>,
        used_at: Option<DateTime<Utc>>,
        expires_at: DateTime<Utc>,
    ) -> DateTime<Utc> {
        let oldest = (created_at + self.lifetimes.max).min(expires_at);
        used_at.map_or(oldest, |used_at| oldest.min(used_at + self.lifetimes.idle))
    }

    /// Whether a use now must be recorded.
    pub(crate) fn is_due(self, used_at: DateTime<Utc>) -> bool {
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
