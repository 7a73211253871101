//! A browser that a user or a person of the staff has used before, identified by a cookie that only a successful log-in sets. The
//! attempts of a user's browser are counted separately, so that strangers who guess passwords do not lock out the user.

use std::fmt::Display;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// How long a browser stays known after its latest log-in.
const LASTS: TimeDelta = TimeDelta::days(180);

/// `<Unix seconds>.<signature>`. The signing key is the password hash: a new password makes all browsers unknown.
#[derive(Clone, PartialEq, Eq)]
pub struct KnownBrowser(String);

impl KnownBrowser {
    pub const LASTS: TimeDelta = LASTS;

    pub fn issue(password_hash: &str, account: impl Display + Copy, now: DateTime<Utc>) -> Self {
        let since = now.timestamp();
        let signature = mac(password_hash, account, since).finalize().into_bytes();
        Self(format!("{since}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// Reads a cookie without verifying its signature. Accepts only the exact form that [`Self::issue`] writes, because
    /// attempts are counted by this text.
    pub fn parse(text: &str) -> Option<Self> {
        let (since, _) = parts(text)?;
        text.starts_with(&format!("{since}.")).then(|| Self(text.to_owned()))
    }

    /// Whether the account was used in this browser with its current password.
    pub fn is_known(&self, password_hash: &str, account: impl Display + Copy, now: DateTime<Utc>) -> bool {
        let Some((since, signature)) = parts(&self.0) else { return false };
        let fresh = DateTime::from_timestamp(since, 0).is_some_and(|since| now - since < LASTS);
        fresh && mac(password_hash, account, since).verify_slice(&signature).is_ok()
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

fn parts(text: &str) -> Option<(i64, Vec<u8>)> {
    let (since, signature) = text.split_once('.')?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok().filter(|bytes| bytes.len() == 32)?;
    Some((since.parse().ok()?, signature))
}

fn mac(password_hash: &str, account: impl Display + Copy, since: i64) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(password_hash.as_bytes())
        .unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"));
    mac.update(format!("known-browser:{account}:{since}").as_bytes());
    mac
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy, UserId};

    use super::*;

    #[test]
    fn a_browser_is_known_to_its_user_until_the_password_changes_or_time_is_up() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (user, other) = (UserId::generate(&clock, &entropy), UserId::generate(&clock, &entropy));
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let issued = KnownBrowser::issue("hash", user, now);
        let browser = KnownBrowser::parse(issued.expose()).unwrap();
        assert!(
            browser.is_known("hash", user, now) && browser.is_known("hash", user, now + TimeDelta::days(179))
        );
        assert!(!browser.is_known("another hash", user, now) && !browser.is_known("hash", other, now));
        assert!(!browser.is_known("hash", user, now + LASTS));
        let later = issued.expose().replacen("1800000000", "1900000000", 1);
        let later = KnownBrowser::parse(&later).unwrap();
        assert!(!later.is_known("hash", user, now + LASTS), "the signature covers the time");
        let rewritten = ["0", "+"].map(|prefix| format!("{prefix}{}", issued.expose()));
        let bad = ["", "1800000000", "x.y", "1800000000.AAAA"];
        for bad in rewritten.iter().map(String::as_str).chain(bad) {
            assert!(KnownBrowser::parse(bad).is_none(), "{bad}");
        }
    }
}
