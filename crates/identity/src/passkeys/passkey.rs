//! Passkeys (WebAuthn) of accounts that have a second factor.

use chrono::{DateTime, TimeDelta, Utc};
use domain::PasskeyId;
use sha2::{Digest, Sha256};
use url::{Host, Url};

/// Passkeys of one account.
pub const PASSKEYS_MAX: i64 = 10;
/// An authenticator must answer within this time.
pub const CEREMONY_LASTS: TimeDelta = TimeDelta::minutes(5);

/// A passkey as its owner sees it.
pub struct Passkey {
    pub id: PasskeyId,
    pub name: String,
    pub created_at: DateTime<Utc>,
    pub last_used_at: Option<DateTime<Utc>>,
}

/// What the answer of the authenticator is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CeremonyPurpose {
    Add,
    LogIn,
    Confirm,
}

impl CeremonyPurpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::LogIn => "log_in",
            Self::Confirm => "confirm",
        }
    }
}

/// Identifies a challenge by its purpose, and by the session or log-in that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CeremonyKey([u8; 32]);

impl CeremonyKey {
    pub fn new(purpose: CeremonyPurpose, holder: impl AsRef<[u8]>) -> Self {
        let mut hash = Sha256::new();
        hash.update(purpose.as_str());
        hash.update([0]);
        hash.update(holder);
        Self(hash.finalize().into())
    }

    pub fn digest(&self) -> [u8; 32] {
        self.0
    }
}

/// The site that passkeys are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PasskeySite {
    pub id: String,
    /// Of the pages that may use the passkeys.
    pub origin: Url,
}

impl PasskeySite {
    /// `None` if browsers offer no passkeys there: they want a name, and TLS except on the own machine. `127.0.0.1` is the same
    /// listener as `localhost`, which is a name.
    pub(super) fn of(url: &Url) -> Option<Self> {
        let mut origin = url.clone();
        if matches!(url.host(), Some(Host::Ipv4(address)) if address.is_loopback()) {
            origin.set_host(Some("localhost")).ok()?;
        }
        let id = origin.domain()?.to_owned();
        let is_local = id == "localhost" || id.ends_with(".localhost");
        (origin.scheme() == "https" || is_local).then_some(Self { id, origin })
    }
}

/// Whether an authenticator that signs this number may be the one that signed the stored number before. Copies of an
/// authenticator repeat numbers. 0 means that it does not count.
pub fn is_later_use(stored: i64, signed: i64) -> bool {
    signed > stored || (signed == 0 && stored == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_offer_passkeys_at_names_with_tls_and_on_the_own_machine() {
        for (url, expected) in [
            ("https://portal.example.com", Some(("portal.example.com", "https://portal.example.com/"))),
            (
                "https://portal.example.com:8443",
                Some(("portal.example.com", "https://portal.example.com:8443/")),
            ),
            ("http://localhost:8084", Some(("localhost", "http://localhost:8084/"))),
            ("http://portal.localhost:8084", Some(("portal.localhost", "http://portal.localhost:8084/"))),
            ("http://127.0.0.1:8084", Some(("localhost", "http://localhost:8084/"))),
            ("http://portal.example.com", None),
            ("https://192.0.2.7", None),
            ("https://[2001:db8::7]", None),
            ("http://[::1]:8084", None),
        ] {
            let found = PasskeySite::of(&Url::parse(url).unwrap());
            let found = found.as_ref().map(|party| (party.id.as_str(), party.origin.as_str()));
            assert_eq!(found, expected, "{url}");
        }
    }

    #[test]
    fn numbers_only_go_up() {
        for (stored, signed, is_later) in
            [(0, 0, true), (0, 1, true), (5, 6, true), (5, 5, false), (5, 4, false), (5, 0, false)]
        {
            assert_eq!(is_later_use(stored, signed), is_later, "{stored} {signed}");
        }
    }

    #[test]
    fn each_purpose_and_holder_has_a_key_of_its_own() {
        let key = |purpose, holder: &str| CeremonyKey::new(purpose, holder);
        assert_eq!(key(CeremonyPurpose::Add, "ses_1"), key(CeremonyPurpose::Add, "ses_1"));
        assert_ne!(key(CeremonyPurpose::Add, "ses_1"), key(CeremonyPurpose::Confirm, "ses_1"));
        assert_ne!(key(CeremonyPurpose::Add, "ses_1"), key(CeremonyPurpose::Add, "ses_2"));
    }
}
