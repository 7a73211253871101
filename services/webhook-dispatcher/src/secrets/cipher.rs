//! AES-256-GCM. Each ciphertext is bound to its endpoint: a secret copied to another row does not decrypt.

use std::sync::Arc;

use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use chrono::{DateTime, Utc};
use domain::{EndpointId, Entropy};
use webhook_signature::Secret;

use crate::domain::{EncryptedSecret, EncryptedSecrets, EncryptionKey, EncryptionKeys, SigningSecrets};

const NONCE_BYTES: usize = 12;

/// A stored secret cannot be decrypted: another key encrypted it, or the row was tampered with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecryptError {
    #[error("the secret was encrypted with the key {0}, which this service does not have")]
    UnknownKey(String),
    #[error("the stored secret is damaged")]
    Corrupt,
}

/// Encrypts and decrypts signing secrets. Clones share the keys.
#[derive(Clone)]
pub(crate) struct SecretCipher(Arc<Keys>);

/// Each with its id.
struct Keys {
    current: (String, Aes256Gcm),
    previous: Vec<(String, Aes256Gcm)>,
}

impl SecretCipher {
    pub(crate) fn new(keys: EncryptionKeys) -> Self {
        let cipher = |key: EncryptionKey| (key.id, Aes256Gcm::new(&Key::<Aes256Gcm>::from(key.bytes)));
        let previous = keys.previous.into_iter().map(cipher).collect();
        Self(Arc::new(Keys { current: cipher(keys.current), previous }))
    }

    pub(crate) fn current_key_id(&self) -> &str {
        &self.0.current.0
    }

    /// The keys that can decrypt.
    pub(crate) fn key_ids(&self) -> Vec<String> {
        self.keys().map(|(id, _)| id.clone()).collect()
    }

    fn keys(&self) -> impl Iterator<Item = &(String, Aes256Gcm)> {
        std::iter::once(&self.0.current).chain(&self.0.previous)
    }

    /// # Errors
    /// Never with a text as short as a secret.
    pub(crate) fn encrypt(
        &self,
        endpoint: EndpointId,
        secret: &Secret,
        entropy: &Entropy,
    ) -> Result<EncryptedSecret, DecryptError> {
        let (key_id, cipher) = &self.0.current;
        let nonce: [u8; NONCE_BYTES] = entropy.bytes();
        let (bound_to, message) = (endpoint.to_string(), secret.expose().as_bytes());
        let payload = Payload { msg: message, aad: bound_to.as_bytes() };
        let encrypted = cipher.encrypt(&Nonce::from(nonce), payload).map_err(|_| DecryptError::Corrupt)?;
        let ciphertext = nonce.into_iter().chain(encrypted).collect();
        Ok(EncryptedSecret { key_id: key_id.clone(), ciphertext })
    }

    /// # Errors
    /// When the secret was encrypted with an unknown key or for another endpoint, or is damaged.
    pub(crate) fn decrypt(
        &self,
        endpoint: EndpointId,
        encrypted: &EncryptedSecret,
    ) -> Result<Secret, DecryptError> {
        let Some((_, cipher)) = self.keys().find(|(id, _)| *id == encrypted.key_id) else {
            return Err(DecryptError::UnknownKey(encrypted.key_id.clone()));
        };
        let (nonce, message) =
            encrypted.ciphertext.split_first_chunk::<NONCE_BYTES>().ok_or(DecryptError::Corrupt)?;
        let bound_to = endpoint.to_string();
        let payload = Payload { msg: message, aad: bound_to.as_bytes() };
        let plain = cipher.decrypt(&Nonce::from(*nonce), payload).map_err(|_| DecryptError::Corrupt)?;
        let text = String::from_utf8(plain).map_err(|_| DecryptError::Corrupt)?;
        Secret::parse(&text).map_err(|_| DecryptError::Corrupt)
    }

    /// The secrets that sign at this time.
    ///
    /// # Errors
    /// As [`Self::decrypt`], for either secret.
    pub(crate) fn signing_secrets(
        &self,
        endpoint: EndpointId,
        encrypted: &EncryptedSecrets,
        now: DateTime<Utc>,
    ) -> Result<SigningSecrets, DecryptError> {
        let (current, next) = encrypted.signing(now);
        Ok(SigningSecrets {
            current: self.decrypt(endpoint, current)?,
            next: next.map(|next| self.decrypt(endpoint, next)).transpose()?,
        })
    }

    /// Encrypts the secret again with the current key; none if it already uses that key.
    ///
    /// # Errors
    /// As [`Self::decrypt`].
    pub(crate) fn rewrap(
        &self,
        endpoint: EndpointId,
        encrypted: &EncryptedSecret,
        entropy: &Entropy,
    ) -> Result<Option<EncryptedSecret>, DecryptError> {
        if encrypted.key_id == self.current_key_id() {
            return Ok(None);
        }
        self.encrypt(endpoint, &self.decrypt(endpoint, encrypted)?, entropy).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use domain::Clock;

    use super::*;
    use crate::domain::StagedSecret;

    fn cipher(key: &str, previous: &str) -> SecretCipher {
        SecretCipher::new(EncryptionKeys {
            current: EncryptionKey::parse(key).unwrap(),
            previous: EncryptionKey::parse_list(previous).unwrap(),
        })
    }

    #[test]
    fn a_secret_decrypts_only_for_its_own_endpoint_and_key() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (mine, other) = (EndpointId::generate(&clock, &entropy), EndpointId::generate(&clock, &entropy));
        let secret = Secret::generate(entropy.bytes());
        let here = cipher("local-one", "");
        let encrypted = here.encrypt(mine, &secret, &entropy).unwrap();

        assert_eq!(here.decrypt(mine, &encrypted), Ok(secret.clone()));
        assert_eq!(here.decrypt(other, &encrypted), Err(DecryptError::Corrupt));
        let other_key = cipher("local-two", "").decrypt(mine, &encrypted);
        assert!(matches!(other_key, Err(DecryptError::UnknownKey(_))));
        for at in 0..encrypted.ciphertext.len() {
            let mut damaged = encrypted.clone();
            damaged.ciphertext[at] ^= 1;
            assert_eq!(here.decrypt(mine, &damaged), Err(DecryptError::Corrupt), "byte {at}");
        }
        let cut = EncryptedSecret { ciphertext: vec![1; 5], ..encrypted.clone() };
        assert_eq!(here.decrypt(mine, &cut), Err(DecryptError::Corrupt));
        let plain = secret.expose().as_bytes();
        assert!(!encrypted.ciphertext.windows(8).any(|window| plain.windows(8).any(|part| part == window)));
        assert_ne!(here.encrypt(mine, &secret, &entropy).unwrap().ciphertext, encrypted.ciphertext);
    }

    #[test]
    fn a_previous_key_decrypts_and_no_longer_encrypts() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let endpoint = EndpointId::generate(&clock, &entropy);
        let secret = Secret::generate(entropy.bytes());
        let before = cipher("local-one", "");
        let encrypted = before.encrypt(endpoint, &secret, &entropy).unwrap();
        assert!(matches!(before.rewrap(endpoint, &encrypted, &entropy), Ok(None)));

        let between = cipher("local-two", "local-zero, local-one");
        assert_eq!(between.key_ids().len(), 3);
        assert_eq!(between.decrypt(endpoint, &encrypted), Ok(secret.clone()));
        let rewrapped = between.rewrap(endpoint, &encrypted, &entropy).unwrap().unwrap();
        assert_eq!(rewrapped.key_id, between.current_key_id());
        assert!(matches!(between.rewrap(endpoint, &rewrapped, &entropy), Ok(None)));
        let after = cipher("local-two", "");
        assert_eq!(after.decrypt(endpoint, &rewrapped), Ok(secret));
        let unknown = after.rewrap(endpoint, &encrypted, &entropy);
        assert!(matches!(unknown, Err(DecryptError::UnknownKey(_))));
    }

    #[test]
    fn the_staged_secret_takes_over_at_its_time() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let endpoint = EndpointId::generate(&clock, &entropy);
        let (old, new) = (Secret::generate(entropy.bytes()), Secret::generate(entropy.bytes()));
        let keys = cipher("local-one", "");
        let encrypt = |secret| keys.encrypt(endpoint, secret, &entropy).unwrap();
        let from = DateTime::UNIX_EPOCH + chrono::TimeDelta::seconds(100);
        let next = Some(StagedSecret { secret: encrypt(&new), from });
        let staged = EncryptedSecrets { current: encrypt(&old), next };
        let just_before = from - chrono::TimeDelta::microseconds(1);

        let both = SigningSecrets { current: old.clone(), next: Some(new.clone()) };
        assert_eq!(keys.signing_secrets(endpoint, &staged, just_before), Ok(both));
        let one = SigningSecrets { current: new.clone(), next: None };
        assert_eq!(keys.signing_secrets(endpoint, &staged, from), Ok(one));
        assert!(staged.clone().at(just_before) == staged);
        let promoted = staged.at(from);
        assert!(promoted.next.is_none() && keys.decrypt(endpoint, &promoted.current) == Ok(new));
    }
}
