//! Signing secrets at rest: AES-256-GCM, bound to their endpoint, so that a secret copied to another row does not open.

use std::fmt;

use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::{EndpointId, Entropy};
use settings::Secret as Setting;
use sha2::{Digest, Sha256};
use webhook_signature::Secret;

const NONCE_BYTES: usize = 12;

/// The setting is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the base64 of exactly 32 bytes, for instance from `openssl rand -base64 32`")]
pub(crate) struct InvalidKey;

/// A stored secret does not open: another key encrypted it, or the row was tampered with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("the secret was encrypted with the key {0}, which this service does not have")]
    OtherKey(String),
    #[error("the stored secret is damaged")]
    Damaged,
}

/// A secret as it is stored.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Sealed {
    /// Which key it is encrypted with. Says nothing of the key itself.
    pub key_id: String,
    /// The nonce, then the ciphertext and its tag.
    pub ciphertext: Vec<u8>,
}

/// Opens and closes secrets.
#[derive(Clone)]
pub(crate) struct SecretBox {
    key_id: String,
    cipher: Aes256Gcm,
}

impl SecretBox {
    /// # Errors
    /// When the setting is neither base64 of 32 bytes nor marked as a local stack's.
    pub(crate) fn new(setting: &Setting) -> Result<Self, InvalidKey> {
        let text = setting.expose();
        let key: [u8; 32] = if text.starts_with(Setting::LOCAL_PREFIX) {
            Sha256::digest(text).into()
        } else {
            STANDARD.decode(text.trim()).map_err(|_| InvalidKey)?.try_into().map_err(|_| InvalidKey)?
        };
        let digest = Sha256::new().chain_update(b"waybill key id").chain_update(key).finalize();
        let key_id = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { key_id, cipher: Aes256Gcm::new(&Key::<Aes256Gcm>::from(key)) })
    }

    /// # Errors
    /// Never with a text as short as a secret.
    pub(crate) fn seal(
        &self,
        endpoint: EndpointId,
        secret: &Secret,
        entropy: &Entropy,
    ) -> Result<Sealed, Unreadable> {
        let nonce: [u8; NONCE_BYTES] = entropy.bytes();
        let (bound_to, message) = (endpoint.to_string(), secret.expose().as_bytes());
        let payload = Payload { msg: message, aad: bound_to.as_bytes() };
        let sealed = self.cipher.encrypt(&Nonce::from(nonce), payload).map_err(|_| Unreadable::Damaged)?;
        let ciphertext = nonce.into_iter().chain(sealed).collect();
        Ok(Sealed { key_id: self.key_id.clone(), ciphertext })
    }

    /// # Errors
    /// When the secret was sealed with another key, for another endpoint, or is damaged.
    pub(crate) fn open(&self, endpoint: EndpointId, sealed: &Sealed) -> Result<Secret, Unreadable> {
        if sealed.key_id != self.key_id {
            return Err(Unreadable::OtherKey(sealed.key_id.clone()));
        }
        let (nonce, message) =
            sealed.ciphertext.split_first_chunk::<NONCE_BYTES>().ok_or(Unreadable::Damaged)?;
        let bound_to = endpoint.to_string();
        let payload = Payload { msg: message, aad: bound_to.as_bytes() };
        let opened = self.cipher.decrypt(&Nonce::from(*nonce), payload).map_err(|_| Unreadable::Damaged)?;
        let text = String::from_utf8(opened).map_err(|_| Unreadable::Damaged)?;
        Secret::parse(&text).map_err(|_| Unreadable::Damaged)
    }
}

impl fmt::Debug for SecretBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretBox({})", self.key_id)
    }
}

#[cfg(test)]
mod tests {
    use domain::Clock;

    use super::*;

    fn secret_box(key: &str) -> SecretBox {
        SecretBox::new(&Setting::new(key)).unwrap()
    }

    #[test]
    fn a_secret_opens_for_its_own_endpoint_and_key_alone() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (mine, other) = (EndpointId::generate(&clock, &entropy), EndpointId::generate(&clock, &entropy));
        let secret = Secret::generate(entropy.bytes());
        let here = secret_box("local-one");
        let sealed = here.seal(mine, &secret, &entropy).unwrap();

        assert_eq!(here.open(mine, &sealed), Ok(secret.clone()));
        assert_eq!(here.open(other, &sealed), Err(Unreadable::Damaged));
        assert!(matches!(secret_box("local-two").open(mine, &sealed), Err(Unreadable::OtherKey(_))));
        for at in 0..sealed.ciphertext.len() {
            let mut damaged = sealed.clone();
            damaged.ciphertext[at] ^= 1;
            assert_eq!(here.open(mine, &damaged), Err(Unreadable::Damaged), "byte {at}");
        }
        let cut = Sealed { ciphertext: vec![1; 5], ..sealed.clone() };
        assert_eq!(here.open(mine, &cut), Err(Unreadable::Damaged));
        let plain = secret.expose().as_bytes();
        assert!(!sealed.ciphertext.windows(8).any(|window| plain.windows(8).any(|part| part == window)));
        assert_ne!(here.seal(mine, &secret, &entropy).unwrap().ciphertext, sealed.ciphertext);
    }

    #[test]
    fn a_key_is_32_bytes() {
        let key = STANDARD.encode([7; 32]);
        assert!(SecretBox::new(&Setting::new(key.as_str())).is_ok());
        assert!(SecretBox::new(&Setting::new(format!("{key}\n"))).is_ok());
        for bad in ["", "secret", &STANDARD.encode([7; 31]), &STANDARD.encode([7; 33])] {
            assert!(SecretBox::new(&Setting::new(bad)).is_err(), "{bad}");
        }
    }
}
