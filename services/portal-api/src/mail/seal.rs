//! The secrets of links in mails that wait: AES-256-GCM, bound to the mail's recipient, so that a secret copied to another
//! row does not open.

use aes_gcm::aead::{Aead, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use domain::Entropy;
use hmac::{Hmac, Mac as _};
use settings::Secret;
use sha2::Sha256;

const NONCE_BYTES: usize = 12;
/// In the texts, where the secret belongs.
const MARK: &str = "⟦secret of the link⟧";

/// Closes and opens them.
#[derive(Clone)]
pub(crate) struct Seal(Aes256Gcm);

/// It was sealed under another token of the services, for somebody else, or is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the secret of its link does not open")]
pub(super) struct Unreadable;

impl Seal {
    /// Its key is derived from the token that the services know each other by: no setting is needed for what waits minutes.
    pub(crate) fn new(internal_token: &Secret) -> anyhow::Result<Self> {
        let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(internal_token.expose().as_bytes())?;
        mac.update(b"waybill secrets of links in mails");
        let key: [u8; 32] = mac.finalize().into_bytes().into();
        Ok(Self(Aes256Gcm::new(&Key::<Aes256Gcm>::from(key))))
    }

    pub(super) fn close(
        &self,
        recipient: &str,
        secret: &str,
        entropy: &Entropy,
    ) -> Result<Vec<u8>, Unreadable> {
        let nonce: [u8; NONCE_BYTES] = entropy.bytes();
        let payload = Payload { msg: secret.as_bytes(), aad: recipient.as_bytes() };
        let sealed = self.0.encrypt(&Nonce::from(nonce), payload).map_err(|_| Unreadable)?;
        Ok(nonce.into_iter().chain(sealed).collect())
    }

    pub(super) fn open(&self, recipient: &str, sealed: &[u8]) -> Result<String, Unreadable> {
        let (nonce, message) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or(Unreadable)?;
        let payload = Payload { msg: message, aad: recipient.as_bytes() };
        let opened = self.0.decrypt(&Nonce::from(*nonce), payload).map_err(|_| Unreadable)?;
        String::from_utf8(opened).map_err(|_| Unreadable)
    }
}

/// The text with the mark in the place of the secret.
pub(super) fn without(text: &str, secret: &str) -> String {
    text.replace(secret, MARK)
}

pub(super) fn with(text: &str, secret: &str) -> String {
    text.replace(MARK, secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_opens_for_its_recipient_and_under_its_token_alone() {
        let (here, entropy) = (Seal::new(&Secret::new("one")).unwrap(), Entropy::seeded(1));
        let sealed = here.close("a@shop.example", "the-secret", &entropy).unwrap();
        assert_eq!(here.open("a@shop.example", &sealed).unwrap(), "the-secret");
        assert_eq!(here.open("b@shop.example", &sealed), Err(Unreadable));
        let elsewhere = Seal::new(&Secret::new("two")).unwrap();
        assert_eq!(elsewhere.open("a@shop.example", &sealed), Err(Unreadable));
        assert_eq!(here.open("a@shop.example", &sealed[..5]), Err(Unreadable));
    }

    #[test]
    fn a_text_gets_its_secret_back() {
        let text =
            "https://portal.example/invitation#token=abc, or https://portal.example/invitation#token=abc";
        assert!(!without(text, "abc").contains("abc"));
        assert_eq!(with(&without(text, "abc"), "abc"), text);
    }
}
