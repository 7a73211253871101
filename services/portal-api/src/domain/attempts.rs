//! How often strangers may try: log-ins and resets of a password per account and address, per account, and per address;
//! sign-ups per address (SPECIFICATION §12); how often anybody may log in; and how often a business may invite, and somebody
//! be invited.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, UserId};
use sha2::{Digest, Sha256};
use strum::{Display, IntoStaticStr};

use super::{CallerAddress, Email, KnownBrowser};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Scope {
    LogInAccount,
    LogInAccountAddress,
    LogInAddress,
    LogInBrowser,
    LogInSuccess,
    SignUpAddress,
    InvitationBusiness,
    InvitationRecipient,
    ResetAccount,
    ResetAccountAddress,
    ResetAddress,
    ResetBrowser,
}

/// At most `max` within any stretch of `window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) max: usize,
    pub(crate) window: TimeDelta,
}

impl Scope {
    /// The longest window of all; what is older counts nowhere.
    pub(crate) const WINDOW_MAX: TimeDelta = TimeDelta::hours(24);

    pub(crate) fn limit(self) -> Limit {
        match self {
            Self::LogInAccountAddress | Self::LogInBrowser => {
                Limit { max: 10, window: TimeDelta::minutes(15) }
            }
            // Looser than the one above: a stranger at one address must not lock the account's own people out.
            Self::LogInAccount | Self::LogInAddress => Limit { max: 100, window: TimeDelta::minutes(15) },
            // Each costs as much of a processor as one that fails.
            Self::LogInSuccess => Limit { max: 100, window: TimeDelta::minutes(15) },
            Self::SignUpAddress => Limit { max: 20, window: TimeDelta::hours(1) },
            // Each may send a mail to somebody who never asked for it.
            Self::InvitationBusiness => Limit { max: 60, window: TimeDelta::hours(1) },
            Self::InvitationRecipient => Limit { max: 5, window: TimeDelta::hours(24) },
            Self::ResetAccountAddress | Self::ResetBrowser => Limit { max: 5, window: TimeDelta::hours(1) },
            Self::ResetAccount => Limit { max: 20, window: TimeDelta::hours(1) },
            Self::ResetAddress => Limit { max: 100, window: TimeDelta::minutes(15) },
        }
    }
}

/// Whose attempts are counted, as a digest: the table of attempts must not become a list of e-mails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    pub(crate) scope: Scope,
    pub(crate) digest: [u8; 32],
}

impl Subject {
    pub(crate) fn account(scope: Scope, email: &Email) -> Self {
        Self::of(scope, &email.key())
    }

    /// No e-mail and no address has a space.
    pub(crate) fn account_at(scope: Scope, email: &Email, address: &str) -> Self {
        Self::of(scope, &format!("{} {address}", email.key()))
    }

    pub(crate) fn address(scope: Scope, address: CallerAddress) -> Self {
        Self::of(scope, &address.text())
    }

    pub(crate) fn browser(scope: Scope, user: UserId, browser: &KnownBrowser) -> Self {
        Self::of(scope, &format!("{user} {}", browser.expose()))
    }

    pub(crate) fn sign_up_from(address: CallerAddress) -> Self {
        Self::of(Scope::SignUpAddress, &address.text())
    }

    pub(crate) fn invitation_by(business: BusinessId) -> Self {
        Self::of(Scope::InvitationBusiness, &business.to_string())
    }

    /// Of all businesses together; `name+anything@host` is the inbox of `name@host`.
    pub(crate) fn invitation_to(email: &Email) -> Self {
        let key = email.key();
        let (local, host) = key.split_once('@').unwrap_or((&key, ""));
        let (name, _) = local.split_once('+').unwrap_or((local, ""));
        Self::of(Scope::InvitationRecipient, &format!("{name}@{host}"))
    }

    /// The number under which attempts of this subject queue up one behind the other.
    pub(crate) fn lock_number(self) -> i64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.digest[..8]);
        i64::from_le_bytes(bytes)
    }

    fn of(scope: Scope, text: &str) -> Self {
        let digest = Sha256::digest(format!("{scope}:{text}"));
        Self { scope, digest: digest.into() }
    }
}

/// How long a subject with these earlier attempts (in any order) has to wait; `None` when it may try now.
pub(crate) fn wait_until_allowed(
    earlier: &[DateTime<Utc>],
    limit: Limit,
    now: DateTime<Utc>,
) -> Option<TimeDelta> {
    let mut counted: Vec<_> = earlier.iter().copied().filter(|at| *at > now - limit.window).collect();
    if counted.len() < limit.max {
        return None;
    }
    counted.sort_unstable();
    // The one whose leaving the window makes room.
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
    fn the_limit_holds_in_any_stretch_of_the_window() {
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
            assert_eq!(wait_until_allowed(&minutes_ago(&earlier), LIMIT, now()), wait, "{earlier:?}");
        }
    }

    #[test]
    fn an_account_is_counted_once_however_it_is_spelled() {
        let subject = |text| Subject::account(Scope::LogInAccount, &Email::parse(text).unwrap());
        assert_eq!(subject("a@b.co"), subject("A@B.CO"));
        assert_ne!(subject("a@b.co"), subject("b@b.co"));
        let address = CallerAddress::new("10.0.0.1".parse().unwrap());
        assert_ne!(
            Subject::address(Scope::LogInAddress, address).digest,
            Subject::sign_up_from(address).digest
        );
    }
}
