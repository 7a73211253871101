//! Encrypts with AES-256-GCM. The recipient or account is authenticated too, so that a text copied to another row does not
//! decrypt.

use aes_gcm::aead::{Aead, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use domain::Entropy;
use hmac::{Hmac, Mac as _};
use settings::Secret;
use sha2::Sha256;

const NONCE_BYTES: usize = 12;

#[derive(Clone)]
pub(super) struct TokenCipher(Aes256Gcm);

/// The token was encrypted with another secret or for another recipient, or is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot encrypt or decrypt the secret")]
pub(super) struct CipherError;

impl TokenCipher {
    /// Derives a key that no other purpose of the same secret has.
    pub(super) fn for_purpose(secret: &Secret, purpose: &str) -> anyhow::Result<Self> {
        let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(secret.expose().as_bytes())?;
        mac.update(purpose.as_bytes());
        let key: [u8; 32] = mac.finalize().into_bytes().into();
        Ok(Self(Aes256Gcm::new(&Key::<Aes256Gcm>::from(key))))
    }

    pub(super) fn encrypt(
        &self,
        recipient: &str,
        token: &str,
        entropy: &Entropy,
    ) -> Result<Vec<u8>, CipherError> {
        let nonce: [u8; NONCE_BYTES] = entropy.bytes();
        let payload = Payload { msg: token.as_bytes(), aad: recipient.as_bytes() };
        let sealed = self.0.encrypt(&Nonce::from(nonce), payload).map_err(|_| CipherError)?;
        Ok(nonce.into_iter().chain(sealed).collect())
    }

    pub(super) fn decrypt(&self, recipient: &str, sealed: &[u8]) -> Result<String, CipherError> {
        let (nonce, message) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or(CipherError)?;
        let payload = Payload { msg: message, aad: recipient.as_bytes() };
        let token = self.0.decrypt(&Nonce::from(*nonce), payload).map_err(|_| CipherError)?;
        String::from_utf8(token).map_err(|_| CipherError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_decrypts_only_for_its_recipient_and_key() {
        let (here, entropy) =
            (TokenCipher::for_purpose(&Secret::new("one"), "links").unwrap(), Entropy::seeded(1));
        let sealed = here.encrypt("a@shop.example", "the-secret", &entropy).unwrap();
        assert_eq!(here.decrypt("a@shop.example", &sealed).unwrap(), "the-secret");
        assert_eq!(here.decrypt("b@shop.example", &sealed), Err(CipherError));
        let elsewhere = TokenCipher::for_purpose(&Secret::new("two"), "links").unwrap();
        assert_eq!(elsewhere.decrypt("a@shop.example", &sealed), Err(CipherError));
        assert_eq!(here.decrypt("a@shop.example", &sealed[..5]), Err(CipherError));
    }
}
