//! Rate limits (SPECIFICATION §8) of log-ins, second factors and password resets: per account and address, per account, and per address.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{AccountId, Email};
use sha2::{Digest, Sha256};

use crate::accounts::Realm;
use crate::browser::{CallerAddress, KnownBrowser};

/// At most `max` attempts in any period of length `window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit {
    pub max: usize,
    pub window: TimeDelta,
}

/// What a limit counts. The name is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scope {
    pub name: &'static str,
    pub limit: Limit,
}

impl Scope {
    /// The longest window. Older attempts do not count for any limit.
    pub const WINDOW_MAX: TimeDelta = TimeDelta::hours(24);

    #[must_use]
    pub const fn new(name: &'static str, max: usize, window: TimeDelta) -> Self {
        Self { name, limit: Limit { max, window } }
    }
}

/// The limits of one kind of attempt.
pub struct Scopes {
    pub browser: Scope,
    pub account_and_address: Scope,
    pub account: Scope,
    pub address: Scope,
}

const QUARTER: TimeDelta = TimeDelta::minutes(15);
const HOUR: TimeDelta = TimeDelta::hours(1);
const DAY: TimeDelta = TimeDelta::hours(24);

// The limit of an account is higher than that of one address, so that a stranger there does not lock out the user.
pub const LOG_IN: Scopes = Scopes {
    browser: Scope::new("log_in_browser", 10, QUARTER),
    account_and_address: Scope::new("log_in_account_address", 10, QUARTER),
    account: Scope::new("log_in_account", 100, QUARTER),
    address: Scope::new("log_in_address", 100, QUARTER),
};
pub const RESET: Scopes = Scopes {
    browser: Scope::new("reset_browser", 5, HOUR),
    account_and_address: Scope::new("reset_account_address", 5, HOUR),
    account: Scope::new("reset_account", 20, HOUR),
    address: Scope::new("reset_address", 100, QUARTER),
};
pub const SECOND_FACTOR: Scopes = Scopes {
    browser: Scope::new("second_factor_browser", 10, QUARTER),
    account_and_address: Scope::new("second_factor_account_address", 10, QUARTER),
    // Three of a million codes are right at any time: a day of guesses succeeds once in ten thousand days.
    account: Scope::new("second_factor_account", 30, DAY),
    address: LOG_IN.address,
};
/// A successful log-in costs as much CPU time as a failed one.
pub const LOG_IN_SUCCESS: Scope = Scope::new("log_in_success", 100, QUARTER);
/// It refuses nothing: passwords from an address that has reached it wait apart from those of strangers.
pub const LOG_IN_SUCCESS_ADDRESS: Scope = Scope::new("log_in_success_address", 1, DAY);

/// Whose attempts are counted. A digest, so that the table of attempts contains no e-mail addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    pub scope: Scope,
    pub digest: [u8; 32],
}

impl Subject {
    /// The space separates accounts of the staff from those of users.
    pub fn account(scope: Scope, (realm, email): (Realm, &Email)) -> Self {
        match realm {
            Realm::User => Self::of(scope, &email.key()),
            Realm::Staff => Self::of(scope, &format!("staff {}", email.key())),
        }
    }

    /// The space separates unambiguously: no part contains one.
    pub fn account_at(scope: Scope, (realm, email): (Realm, &Email), address: &str) -> Self {
        match realm {
            Realm::User => Self::of(scope, &format!("{} {address}", email.key())),
            Realm::Staff => Self::of(scope, &format!("staff {} {address}", email.key())),
        }
    }

    pub fn address(scope: Scope, address: &CallerAddress) -> Self {
        Self::of(scope, address.as_str())
    }

    pub fn browser(scope: Scope, account: AccountId, browser: &KnownBrowser) -> Self {
        Self::of(scope, &format!("{account} {}", browser.expose()))
    }

    /// Counts the mails to all names such as `name+anything@host` of one inbox. `None` for `name@host` itself: a stranger who uses
    /// up the other names must not keep its owner from a mail.
    pub fn other_name(scope: Scope, email: &Email) -> Option<Self> {
        let inbox = inbox(email);
        (inbox != email.key()).then(|| Self::of(scope, &inbox))
    }

    /// Counts for all names of an inbox.
    pub fn inbox(scope: Scope, email: &Email) -> Self {
        Self::of(scope, &inbox(email))
    }

    /// The key of the advisory lock that serializes attempts of this subject.
    pub fn lock_key(self) -> i64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.digest[..8]);
        i64::from_le_bytes(bytes)
    }

    pub fn of(scope: Scope, text: &str) -> Self {
        let digest = Sha256::digest(format!("{}:{text}", scope.name));
        Self { scope, digest: digest.into() }
    }
}

/// `name+anything@host` is the same inbox as `name@host`.
fn inbox(email: &Email) -> String {
    let key = email.key();
    let (local, host) = key.split_once('@').unwrap_or((&key, ""));
    let (name, _) = local.split_once('+').unwrap_or((local, ""));
    format!("{name}@{host}")
}

/// How long a subject with these earlier attempts (in any order) must wait; `None` if another attempt is allowed now.
pub(super) fn retry_after(earlier: &[DateTime<Utc>], limit: Limit, now: DateTime<Utc>) -> Option<TimeDelta> {
    let mut counted: Vec<_> = earlier.iter().copied().filter(|at| *at > now - limit.window).collect();
    if counted.len() < limit.max {
        return None;
    }
    counted.sort_unstable();
    // Another attempt is allowed when this one leaves the window.
    let oldest_that_counts = counted[counted.len() - limit.max];
    Some(oldest_that_counts + limit.window - now)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { max: 3, window: TimeDelta::minutes(15) };

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).unwrap()
    }

    fn minutes_ago(minutes: &[i64]) -> Vec<DateTime<Utc>> {
        minutes.iter().map(|minutes| now() - TimeDelta::minutes(*minutes)).collect()
    }

    #[test]
    fn the_limit_applies_to_any_period_of_the_window() {
        for (earlier, wait) in [
            (vec![], None),
            (vec![1, 2], None),
            (vec![1, 2, 3], Some(12)),
            (vec![14, 1, 2], Some(1)),
            (vec![15, 1, 2], None),
            (vec![1, 2, 3, 10], Some(12)),
            (vec![20, 30, 40], None),
        ] {
            let wait = wait.map(TimeDelta::minutes);
            assert_eq!(retry_after(&minutes_ago(&earlier), LIMIT, now()), wait, "{earlier:?}");
        }
    }

    #[test]
    fn the_case_of_an_email_does_not_matter() {
        let subject = |text| Subject::account(LOG_IN.account, (Realm::User, &Email::parse(text).unwrap()));
        assert_eq!(subject("a@b.co"), subject("A@B.CO"));
        assert_ne!(subject("a@b.co"), subject("b@b.co"));
        let address = CallerAddress::new("10.0.0.1".to_owned());
        assert_ne!(
            Subject::address(LOG_IN.address, &address).digest,
            Subject::address(RESET.address, &address).digest
        );
    }
}
