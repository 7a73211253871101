//! The operator's staff, and operator tokens.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{Email, Entropy, OperatorTokenId, StaffId};
use identity::SecretToken;
use sha2::{Digest, Sha256};

use crate::domain::OperatorRole;

/// A person of the operator's staff.
#[derive(Clone, Debug)]
pub(crate) struct Staff {
    pub(crate) id: StaffId,
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) role: OperatorRole,
    /// False until the person has set a password.
    pub(crate) has_password: bool,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) last_seen_at: Option<DateTime<Utc>>,
    pub(crate) has_second_factor: bool,
    /// At most one of each provider.
    pub(crate) identities: Vec<StaffIdentity>,
}

/// Who a person is at an identity provider.
#[derive(Clone, Debug)]
pub(crate) struct StaffIdentity {
    pub(crate) issuer: String,
    /// False if the groups of the latest log-in gave no role.
    pub(crate) has_role: bool,
}

/// How the settings let the staff log in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogInWays<'a> {
    /// The provider, with single sign-on.
    pub(crate) issuer: Option<&'a str>,
    pub(crate) passwords: bool,
}

impl Staff {
    /// Whether the person can open a session now. The password of a linked account is refused.
    pub(crate) fn can_log_in(&self, ways: LogInWays<'_>) -> bool {
        match self.identities.iter().find(|identity| Some(identity.issuer.as_str()) == ways.issuer) {
            Some(identity) => identity.has_role,
            None => self.has_password && ways.passwords,
        }
    }

    /// Whether the person has ever been able to log in.
    pub(crate) fn has_joined(&self) -> bool {
        self.has_password || !self.identities.is_empty()
    }
}

/// A person to add.
#[derive(Clone, Debug)]
pub(crate) struct NewStaff {
    pub(crate) name: String,
    pub(crate) email: Email,
    pub(crate) role: OperatorRole,
}

/// A named operator token, without its secret.
#[derive(Clone, Debug)]
pub(crate) struct OperatorToken {
    pub(crate) id: OperatorTokenId,
    pub(crate) name: String,
    pub(crate) role: OperatorRole,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) last_used_at: Option<DateTime<Utc>>,
    /// Until when the secret before the rotation works.
    pub(crate) previous_until: Option<DateTime<Utc>>,
    pub(crate) disabled_at: Option<DateTime<Utc>>,
}

/// The secret of a named token: a prefix and 256 random bits. Only its digest is stored.
#[derive(Clone)]
pub(crate) struct OperatorSecret(String);

impl OperatorSecret {
    const PREFIX: &str = "wop_";

    pub(crate) fn generate(entropy: &Entropy) -> Self {
        Self(format!("{}{}", Self::PREFIX, SecretToken::generate(entropy).expose()))
    }

    /// `None` if no named token looks like this.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        SecretToken::parse(text.strip_prefix(Self::PREFIX)?)?;
        Some(Self(text.to_owned()))
    }

    /// The stored form. It is looked up by index: the time of a look-up reveals nothing about a digest that callers cannot
    /// choose.
    pub(crate) fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

/// How long the previous secret of a rotated token works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenGrace(TimeDelta);

impl TokenGrace {
    /// The same as for API keys (SPECIFICATION §5.6).
    const SECONDS: [i64; 5] = [0, 900, 3_600, 21_600, 86_400];
    /// For error messages.
    pub(crate) const WORDS: &str = "0, 900, 3600, 21600 or 86400";
    pub(crate) const SECONDS_MAX: i64 = 86_400;

    pub(crate) fn from_seconds(seconds: i64) -> Option<Self> {
        Self::SECONDS.contains(&seconds).then(|| Self(TimeDelta::seconds(seconds)))
    }

    /// `None` if the previous secret ends at once.
    pub(crate) fn until(self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        (!self.0.is_zero()).then(|| now + self.0)
    }

    pub(crate) fn seconds(self) -> i64 {
        self.0.num_seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_well_formed_secrets_are_looked_up() {
        let secret = OperatorSecret::generate(&Entropy::seeded(3));
        assert_eq!(OperatorSecret::parse(secret.expose()).unwrap().digest(), secret.digest());
        for bad in
            ["", "wop_", "local-operator-token", &secret.expose()[4..], &format!("{}A", secret.expose())]
        {
            assert!(OperatorSecret::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_grace_of_nothing_ends_the_previous_secret_at_once() {
        let now = DateTime::UNIX_EPOCH;
        assert_eq!(TokenGrace::from_seconds(0).unwrap().until(now), None);
        assert_eq!(TokenGrace::from_seconds(900).unwrap().until(now), Some(now + TimeDelta::minutes(15)));
        for other in [-1, 1, 899, 86_401] {
            assert_eq!(TokenGrace::from_seconds(other), None, "{other}");
        }
    }
}
