//! Log-ins with an identity provider: the secrets of one log-in, what it is for, and the role that groups give.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, Email};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use strum::{Display, EnumString, IntoStaticStr};

use crate::secrets::SecretToken;

/// A log-in must be completed within this time. Long enough for a second factor at the provider.
pub const SSO_LASTS: TimeDelta = TimeDelta::minutes(10);

/// A person who authenticated at the provider longer ago must authenticate again. As long as a session.
pub const SSO_AUTHENTICATION_LASTS: TimeDelta = TimeDelta::hours(12);

/// Whose provider is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsoSubject {
    /// The provider of the operator, for its staff.
    Staff,
    /// The provider of a business, for its users.
    Business(BusinessId),
}

impl SsoSubject {
    pub fn business(self) -> Option<BusinessId> {
        match self {
            Self::Staff => None,
            Self::Business(business) => Some(business),
        }
    }
}

/// What somebody visits the provider for. The names are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum SsoPurpose {
    /// To open a session.
    LogIn,
    /// To authenticate again in an open session.
    Confirm,
    /// To link the identity to the account of an open session.
    Link,
}

impl SsoPurpose {
    /// For error messages.
    pub const WORDS: &str = "log_in, confirm or link";

    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether the person must authenticate now, not only have a session at the provider.
    pub fn must_authenticate(self) -> bool {
        match self {
            Self::LogIn => false,
            Self::Confirm | Self::Link => true,
        }
    }
}

/// The secrets of one log-in, derived from the value of the browser's cookie and from whose provider is visited: a response of
/// one provider never fits another. Nothing of them is stored, and none reveals the cookie or another one.
pub struct SsoSecrets<'a> {
    cookie: &'a SecretToken,
    subject: SsoSubject,
}

impl<'a> SsoSecrets<'a> {
    pub fn of(cookie: &'a SecretToken, subject: SsoSubject) -> Self {
        Self { cookie, subject }
    }

    /// Returns with the browser, and proves that this browser started the log-in.
    pub fn state(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.mac("state").finalize().into_bytes())
    }

    /// In constant time.
    pub fn has_state(&self, given: &str) -> bool {
        URL_SAFE_NO_PAD.decode(given).is_ok_and(|given| self.mac("state").verify_slice(&given).is_ok())
    }

    /// Returns in the ID token, and proves that the token was issued for this log-in.
    pub fn nonce(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.mac("nonce").finalize().into_bytes())
    }

    /// Only the client that started the log-in knows it: the provider requires it with the code (PKCE, RFC 7636).
    pub fn verifier(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.mac("verifier").finalize().into_bytes())
    }

    fn mac(&self, purpose: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.cookie.expose().as_bytes())
            .unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"));
        mac.update(format!("waybill single sign-on {purpose}").as_bytes());
        if let SsoSubject::Business(business) = self.subject {
            mac.update(format!(" of {business}").as_bytes());
        }
        mac
    }
}

/// What the browser brings back from the provider (RFC 6749 §4.1.2, RFC 9207).
pub struct SsoResponse {
    pub state: String,
    pub issuer: Option<String>,
    pub result: SsoResult,
}

pub enum SsoResult {
    Code(String),
    /// The person or the provider declined.
    Declined,
}

/// What the provider has proved about a person.
#[derive(Clone)]
pub struct SsoIdentity {
    pub issuer: String,
    /// Identifies the person at this issuer, forever. An e-mail address does not: it may be given to somebody else.
    pub subject: String,
    pub email: Option<Email>,
    /// Whether the provider says that the address is the person's. Many providers say nothing.
    pub email_verified: bool,
    /// The domain of the company that Google manages the account for (`hd`).
    pub hosted_domain: Option<String>,
    pub name: Option<String>,
    pub groups: Vec<String>,
    /// When the person last authenticated at the provider. `None` if the provider neither says so nor was asked to authenticate the
    /// person now.
    pub authenticated_at: Option<DateTime<Utc>>,
}

impl fmt::Debug for SsoIdentity {
    /// Hides personal data from logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SsoIdentity(..)")
    }
}

/// Which group gives which role. Of several groups of a person, the first in this list counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRoles<R>(Vec<(String, R)>);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a group and a role, such as waybill-admins=administrator")]
pub struct InvalidGroupRole(String);

impl<R: FromStr> FromStr for GroupRoles<R> {
    type Err = InvalidGroupRole;

    /// Reads `waybill-admins=administrator; waybill-finance=finance`. The names of groups may contain commas and `=`, as the
    /// names of directories do.
    fn from_str(text: &str) -> Result<Self, InvalidGroupRole> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        let pair = |part: &str| {
            let (group, role) = part.rsplit_once('=')?;
            let (group, role) = (group.trim(), role.trim().parse().ok()?);
            (!group.is_empty()).then(|| (group.to_owned(), role))
        };
        let pairs = parts.map(|part| pair(part).ok_or_else(|| InvalidGroupRole(part.to_owned())));
        pairs.collect::<Result<_, _>>().map(Self)
    }
}

impl<R> Default for GroupRoles<R> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<R> FromIterator<(String, R)> for GroupRoles<R> {
    fn from_iter<I: IntoIterator<Item = (String, R)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl<R: Copy> GroupRoles<R> {
    pub fn iter(&self) -> impl Iterator<Item = (&str, R)> {
        self.0.iter().map(|(group, role)| (group.as_str(), *role))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `None` if no group gives a role.
    pub fn role_of(&self, groups: &[String]) -> Option<R> {
        self.0.iter().find(|(group, _)| groups.contains(group)).map(|(_, role)| *role)
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    #[test]
    fn the_secrets_of_a_log_in_belong_to_its_cookie_and_differ() {
        let entropy = Entropy::seeded(1);
        let (cookie, other) = (SecretToken::generate(&entropy), SecretToken::generate(&entropy));
        let (secrets, others) =
            (SsoSecrets::of(&cookie, SsoSubject::Staff), SsoSecrets::of(&other, SsoSubject::Staff));
        assert!(secrets.has_state(&secrets.state()));
        for wrong in [others.state(), secrets.nonce(), secrets.verifier(), String::new(), "é".to_owned()] {
            assert!(!secrets.has_state(&wrong), "{wrong}");
        }
        let mut all = vec![secrets.state(), secrets.nonce(), secrets.verifier(), cookie.expose().to_owned()];
        // RFC 7636 §4.1: 43 to 128 characters.
        assert!(all.iter().all(|secret| secret.len() == 43));
        all.dedup();
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn the_secrets_of_one_business_are_those_of_no_other() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let cookie = SecretToken::generate(&entropy);
        let subjects = [
            SsoSubject::Staff,
            SsoSubject::Business(BusinessId::generate(&clock, &entropy)),
            SsoSubject::Business(BusinessId::generate(&clock, &entropy)),
        ];
        for (here, subject) in subjects.iter().enumerate() {
            for (there, other) in subjects.iter().enumerate() {
                let (own, others) = (SsoSecrets::of(&cookie, *subject), SsoSecrets::of(&cookie, *other));
                assert_eq!(own.has_state(&others.state()), here == there);
                assert_eq!(own.nonce() == others.nonce(), here == there);
                assert_eq!(own.verifier() == others.verifier(), here == there);
            }
        }
    }

    #[test]
    fn the_first_group_of_the_list_that_a_person_has_gives_the_role() {
        let roles: GroupRoles<char> = "ops=a; cn=money,dc=example=f ;all=v;".parse().unwrap();
        let role = |groups: &[&str]| {
            roles.role_of(&groups.iter().map(|group| (*group).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(role(&["all", "ops"]), Some('a'));
        assert_eq!(role(&["all", "cn=money,dc=example"]), Some('f'));
        assert_eq!(role(&["ALL"]), None, "groups are compared exactly");
        assert_eq!(role(&[]), None);
        for bad in ["ops", "=v", "ops=chief", "ops=", "ops=v;x"] {
            assert!(bad.parse::<GroupRoles<char>>().is_err(), "{bad}");
        }
    }
}
