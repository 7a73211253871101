//! Rate limits (SPECIFICATION §8): log-ins and password resets per account and address, per account, and per address;
//! sign-ups per address; invitations per business and per recipient; confirmations of e-mail addresses per account and per
//! recipient; reset links to the other names of an inbox.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{AccountId, BusinessId};
use sha2::{Digest, Sha256};
use strum::{Display, IntoStaticStr};

use super::{CallerAddress, Email, KnownBrowser, Realm};

/// What a limit counts. The names are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Scope {
    LogInAccount,
    LogInAccountAddress,
    LogInAddress,
    LogInBrowser,
    LogInSuccess,
    LogInSuccessAddress,
    SignUpAddress,
    InvitationBusiness,
    InvitationRecipient,
    ResetAccount,
    ResetAccountAddress,
    ResetAddress,
    ResetBrowser,
    SecondFactorAccount,
    SecondFactorAccountAddress,
    SecondFactorBrowser,
    EmailConfirmationAccount,
    EmailConfirmationRecipient,
    EmailConfirmationInbox,
    ResetInbox,
}

/// At most `max` attempts in any period of length `window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) max: usize,
    pub(crate) window: TimeDelta,
}

impl Scope {
    /// The longest window. Older attempts do not count for any limit.
    pub(crate) const WINDOW_MAX: TimeDelta = TimeDelta::hours(24);

    pub(crate) fn limit(self) -> Limit {
        match self {
            Self::LogInAccountAddress | Self::LogInBrowser => {
                Limit { max: 10, window: TimeDelta::minutes(15) }
            }
            // Higher than the limit above, so that a stranger at one address does not lock out the user.
            Self::LogInAccount | Self::LogInAddress => Limit { max: 100, window: TimeDelta::minutes(15) },
            // A successful log-in costs as much CPU time as a failed one.
            Self::LogInSuccess => Limit { max: 100, window: TimeDelta::minutes(15) },
            // It refuses nothing: passwords from an address that has reached it wait apart from those of strangers.
            Self::LogInSuccessAddress => Limit { max: 1, window: TimeDelta::hours(24) },
            Self::SignUpAddress => Limit { max: 20, window: TimeDelta::hours(1) },
            // Each invitation sends a mail that the recipient did not ask for.
            Self::InvitationBusiness => Limit { max: 60, window: TimeDelta::hours(1) },
            Self::InvitationRecipient => Limit { max: 5, window: TimeDelta::hours(24) },
            Self::ResetAccountAddress | Self::ResetBrowser => Limit { max: 5, window: TimeDelta::hours(1) },
            Self::ResetAccount => Limit { max: 20, window: TimeDelta::hours(1) },
            Self::SecondFactorAccountAddress | Self::SecondFactorBrowser => {
                Limit { max: 10, window: TimeDelta::minutes(15) }
            }
            // Three of a million codes are right at any time: a day of guesses succeeds once in ten thousand days.
            Self::SecondFactorAccount => Limit { max: 30, window: TimeDelta::hours(24) },
            Self::EmailConfirmationAccount => Limit { max: 10, window: TimeDelta::hours(24) },
            // Anybody can sign up with any address.
            Self::EmailConfirmationRecipient => Limit { max: 5, window: TimeDelta::hours(24) },
            Self::EmailConfirmationInbox | Self::ResetInbox => {
                Limit { max: 20, window: TimeDelta::hours(24) }
            }
            Self::ResetAddress => Limit { max: 100, window: TimeDelta::minutes(15) },
        }
    }
}

/// Whose attempts are counted. A digest, so that the table of attempts contains no e-mail addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    pub(crate) scope: Scope,
    pub(crate) digest: [u8; 32],
}

impl Subject {
    /// The space separates accounts of the staff from those of users.
    pub(crate) fn account(scope: Scope, (realm, email): (Realm, &Email)) -> Self {
        match realm {
            Realm::User => Self::of(scope, &email.key()),
            Realm::Staff => Self::of(scope, &format!("staff {}", email.key())),
        }
    }

    /// The space separates unambiguously: no part contains one.
    pub(crate) fn account_at(scope: Scope, (realm, email): (Realm, &Email), address: &str) -> Self {
        match realm {
            Realm::User => Self::of(scope, &format!("{} {address}", email.key())),
            Realm::Staff => Self::of(scope, &format!("staff {} {address}", email.key())),
        }
    }

    pub(crate) fn address(scope: Scope, address: &CallerAddress) -> Self {
        Self::of(scope, address.as_str())
    }

    pub(crate) fn browser(scope: Scope, account: AccountId, browser: &KnownBrowser) -> Self {
        Self::of(scope, &format!("{account} {}", browser.expose()))
    }

    pub(crate) fn sign_up_from(address: &CallerAddress) -> Self {
        Self::of(Scope::SignUpAddress, address.as_str())
    }

    pub(crate) fn invitation_by(business: BusinessId) -> Self {
        Self::of(Scope::InvitationBusiness, &business.to_string())
    }

    /// Counts the invitations of all businesses.
    pub(crate) fn invitation_to(email: &Email) -> Self {
        Self::of(Scope::InvitationRecipient, &inbox(email))
    }

    /// Counts the links that confirm e-mail addresses of one account.
    pub(crate) fn confirmation_of(account: AccountId) -> Self {
        Self::of(Scope::EmailConfirmationAccount, &account.to_string())
    }

    /// Counts the links of all accounts.
    pub(crate) fn confirmation_to(email: &Email) -> Self {
        Self::account(Scope::EmailConfirmationRecipient, (Realm::User, email))
    }

    /// Counts the mails to all names such as `name+anything@host` of one inbox. `None` for `name@host` itself: a stranger who uses
    /// up the other names must not keep its owner from a mail.
    pub(crate) fn other_name(scope: Scope, email: &Email) -> Option<Self> {
        let inbox = inbox(email);
        (inbox != email.key()).then(|| Self::of(scope, &inbox))
    }

    /// The key of the advisory lock that serializes attempts of this subject.
    pub(crate) fn lock_key(self) -> i64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.digest[..8]);
        i64::from_le_bytes(bytes)
    }

    fn of(scope: Scope, text: &str) -> Self {
        let digest = Sha256::digest(format!("{scope}:{text}"));
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
pub(crate) fn retry_after(earlier: &[DateTime<Utc>], limit: Limit, now: DateTime<Utc>) -> Option<TimeDelta> {
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
        let subject =
            |text| Subject::account(Scope::LogInAccount, (Realm::User, &Email::parse(text).unwrap()));
        assert_eq!(subject("a@b.co"), subject("A@B.CO"));
        assert_ne!(subject("a@b.co"), subject("b@b.co"));
        let address = CallerAddress::new("10.0.0.1".to_owned());
        assert_ne!(
            Subject::address(Scope::LogInAddress, &address).digest,
            Subject::sign_up_from(&address).digest
        );
    }
}
