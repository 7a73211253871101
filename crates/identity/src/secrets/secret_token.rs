//! Bearer secrets: the value of a session cookie, the token of a link.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::Entropy;
use hmac::{Hmac, KeyInit, Mac};
use settings::Secret;
use sha2::{Digest, Sha256};

/// 256 random bits. Only the digest is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretToken(String);

/// The value of a session cookie.
pub type SessionToken = SecretToken;
/// In the fragment of a link, where it reaches no log and no `Referer` header.
pub type LinkToken = SecretToken;

impl SecretToken {
    pub fn generate(entropy: &Entropy) -> Self {
        Self(URL_SAFE_NO_PAD.encode(entropy.bytes::<32>()))
    }

    pub fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == 32).then(|| Self(text.to_owned()))
    }

    /// The stored form. A random value cannot be guessed, so that a plain digest is enough.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }

    /// As [`Self::digest`], of a secret that ends when the key changes.
    pub fn digest_under(&self, key: &Secret) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(key.expose().as_bytes())
            .unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"));
        mac.update(self.0.as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// The secret itself, for the cookie or the link.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretToken(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_well_formed_tokens_are_accepted() {
        let token = SecretToken::generate(&Entropy::seeded(7));
        assert_eq!(SecretToken::parse(token.expose()), Some(token.clone()));
        for bad in ["", "x", &token.expose()[1..], &format!("{}A", token.expose()), "é"] {
            assert!(SecretToken::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn another_key_is_another_digest() {
        let token = SecretToken::generate(&Entropy::seeded(3));
        let before = token.digest_under(&Secret::new("the operator's token"));
        assert_eq!(before, token.digest_under(&Secret::new("the operator's token")));
        assert_ne!(before, token.digest_under(&Secret::new("the operator's next token")));
    }
}
