//! A log-in: who it is, the secret that opens it, and how long it lasts.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, Entropy, SessionId, UserId};
use sha2::{Digest, Sha256};

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
    pub(crate) role: String,
    pub(crate) business: BusinessId,
    pub(crate) business_name: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) expires_at: DateTime<Utc>,
}

/// The cookie's value: 256 random bits. It is a secret: only its digest is kept.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SessionToken(String);

impl SessionToken {
    pub(crate) fn generate(entropy: &Entropy) -> Self {
        Self(URL_SAFE_NO_PAD.encode(entropy.bytes::<32>()))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == 32).then(|| Self(text.to_owned()))
    }

    /// What the database knows it by. A plain digest is enough for a random value: there is nothing to guess.
    pub(crate) fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }

    /// The secret itself, for the cookie.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionToken(..)")
    }
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

    #[test]
    fn only_a_token_of_the_right_form_is_looked_up() {
        let token = SessionToken::generate(&Entropy::seeded(7));
        assert_eq!(SessionToken::parse(token.expose()), Some(token.clone()));
        for bad in ["", "x", &token.expose()[1..], &format!("{}A", token.expose()), "é"] {
            assert!(SessionToken::parse(bad).is_none(), "{bad}");
        }
    }
}
