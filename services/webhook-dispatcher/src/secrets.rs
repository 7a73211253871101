//! Signing secrets at rest: AES-256-GCM, bound to their endpoint, so that a secret copied to another row does not open.

use std::fmt;
use std::sync::Arc;

use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
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

/// What an endpoint signs with, as it is stored.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SealedSecrets {
    pub present: Sealed,
    /// Made by rotating, and not yet in its place.
    pub next: Option<Staged>,
}

/// A secret that is to take the place of another.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Staged {
    pub secret: Sealed,
    /// From then on it is the present one, whether or not somebody has written that down.
    pub from: DateTime<Utc>,
}

impl SealedSecrets {
    pub(crate) fn only(present: Sealed) -> Self {
        Self { present, next: None }
    }

    /// What they are at that time.
    pub(crate) fn at(self, now: DateTime<Utc>) -> Self {
        match self.next {
            Some(next) if next.from <= now => Self::only(next.secret),
            _ => self,
        }
    }

    /// The present one and the next, as they are at that time.
    fn signing(&self, now: DateTime<Utc>) -> (&Sealed, Option<&Sealed>) {
        match &self.next {
            Some(next) if next.from <= now => (&next.secret, None),
            Some(next) => (&self.present, Some(&next.secret)),
            None => (&self.present, None),
        }
    }
}

/// What an endpoint signs with at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Secrets {
    pub present: Secret,
    pub next: Option<Secret>,
}

/// Opens and closes secrets. Clones share the keys.
#[derive(Clone)]
pub(crate) struct SecretBox(Arc<Keys>);

/// Each with its id.
struct Keys {
    /// Closes and opens.
    current: (String, Aes256Gcm),
    /// Only open what was closed before the key was changed.
    previous: Vec<(String, Aes256Gcm)>,
}

impl SecretBox {
    /// `previous` may be many, separated by commas, or none.
    ///
    /// # Errors
    /// When a key is neither base64 of 32 bytes nor marked as a local stack's.
    pub(crate) fn new(current: &Setting, previous: &Setting) -> Result<Self, InvalidKey> {
        let given = previous.expose().split(',').map(str::trim).filter(|text| !text.is_empty());
        let previous = given.map(key).collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(Keys { current: key(current.expose())?, previous })))
    }

    /// The key that secrets are sealed with now.
    pub(crate) fn current_key_id(&self) -> &str {
        &self.0.current.0
    }

    /// The keys that secrets can be opened with.
    pub(crate) fn key_ids(&self) -> Vec<String> {
        self.keys().map(|(id, _)| id.clone()).collect()
    }

    fn keys(&self) -> impl Iterator<Item = &(String, Aes256Gcm)> {
        std::iter::once(&self.0.current).chain(&self.0.previous)
    }

    /// # Errors
    /// Never with a text as short as a secret.
    pub(crate) fn seal(
        &self,
        endpoint: EndpointId,
        secret: &Secret,
        entropy: &Entropy,
    ) -> Result<Sealed, Unreadable> {
        let (key_id, cipher) = &self.0.current;
        let nonce: [u8; NONCE_BYTES] = entropy.bytes();
        let (bound_to, message) = (endpoint.to_string(), secret.expose().as_bytes());
        let payload = Payload { msg: message, aad: bound_to.as_bytes() };
        let sealed = cipher.encrypt(&Nonce::from(nonce), payload).map_err(|_| Unreadable::Damaged)?;
        let ciphertext = nonce.into_iter().chain(sealed).collect();
        Ok(Sealed { key_id: key_id.clone(), ciphertext })
    }

    /// # Errors
    /// When the secret was sealed with a key that is not ours, for another endpoint, or is damaged.
    pub(crate) fn open(&self, endpoint: EndpointId, sealed: &Sealed) -> Result<Secret, Unreadable> {
        let Some((_, cipher)) = self.keys().find(|(id, _)| *id == sealed.key_id) else {
            return Err(Unreadable::OtherKey(sealed.key_id.clone()));
        };
        let (nonce, message) =
            sealed.ciphertext.split_first_chunk::<NONCE_BYTES>().ok_or(Unreadable::Damaged)?;
        let bound_to = endpoint.to_string();
        let payload = Payload { msg: message, aad: bound_to.as_bytes() };
        let opened = cipher.decrypt(&Nonce::from(*nonce), payload).map_err(|_| Unreadable::Damaged)?;
        let text = String::from_utf8(opened).map_err(|_| Unreadable::Damaged)?;
        Secret::parse(&text).map_err(|_| Unreadable::Damaged)
    }

    /// What signs at that time.
    ///
    /// # Errors
    /// As [`Self::open`], of either.
    pub(crate) fn open_all(
        &self,
        endpoint: EndpointId,
        sealed: &SealedSecrets,
        now: DateTime<Utc>,
    ) -> Result<Secrets, Unreadable> {
        let (present, next) = sealed.signing(now);
        Ok(Secrets {
            present: self.open(endpoint, present)?,
            next: next.map(|next| self.open(endpoint, next)).transpose()?,
        })
    }

    /// The same secret under the current key; none when it is sealed with that already.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn rewrap(
        &self,
        endpoint: EndpointId,
        sealed: &Sealed,
        entropy: &Entropy,
    ) -> Result<Option<Sealed>, Unreadable> {
        if sealed.key_id == self.current_key_id() {
            return Ok(None);
        }
        self.seal(endpoint, &self.open(endpoint, sealed)?, entropy).map(Some)
    }
}

fn key(text: &str) -> Result<(String, Aes256Gcm), InvalidKey> {
    let key: [u8; 32] = if text.starts_with(Setting::LOCAL_PREFIX) {
        Sha256::digest(text).into()
    } else {
        STANDARD.decode(text.trim()).map_err(|_| InvalidKey)?.try_into().map_err(|_| InvalidKey)?
    };
    let digest = Sha256::new().chain_update(b"waybill key id").chain_update(key).finalize();
    let key_id = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    Ok((key_id, Aes256Gcm::new(&Key::<Aes256Gcm>::from(key))))
}

impl fmt::Debug for SecretBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretBox({})", self.current_key_id())
    }
}

#[cfg(test)]
mod tests {
    use domain::Clock;

    use super::*;

    fn secret_box(key: &str, previous: &str) -> SecretBox {
        SecretBox::new(&Setting::new(key), &Setting::new(previous)).unwrap()
    }

    #[test]
    fn a_secret_opens_for_its_own_endpoint_and_key_alone() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (mine, other) = (EndpointId::generate(&clock, &entropy), EndpointId::generate(&clock, &entropy));
        let secret = Secret::generate(entropy.bytes());
        let here = secret_box("local-one", "");
        let sealed = here.seal(mine, &secret, &entropy).unwrap();

        assert_eq!(here.open(mine, &sealed), Ok(secret.clone()));
        assert_eq!(here.open(other, &sealed), Err(Unreadable::Damaged));
        assert!(matches!(secret_box("local-two", "").open(mine, &sealed), Err(Unreadable::OtherKey(_))));
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
    fn a_former_key_opens_and_no_longer_seals() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let endpoint = EndpointId::generate(&clock, &entropy);
        let secret = Secret::generate(entropy.bytes());
        let before = secret_box("local-one", "");
        let sealed = before.seal(endpoint, &secret, &entropy).unwrap();
        assert!(matches!(before.rewrap(endpoint, &sealed, &entropy), Ok(None)));

        let between = secret_box("local-two", "local-zero, local-one");
        assert_eq!(between.open(endpoint, &sealed), Ok(secret.clone()));
        let rewrapped = between.rewrap(endpoint, &sealed, &entropy).unwrap().unwrap();
        assert_eq!(rewrapped.key_id, between.current_key_id());
        assert!(matches!(between.rewrap(endpoint, &rewrapped, &entropy), Ok(None)));
        let after = secret_box("local-two", "");
        assert_eq!(after.open(endpoint, &rewrapped), Ok(secret));
        assert!(matches!(after.rewrap(endpoint, &sealed, &entropy), Err(Unreadable::OtherKey(_))));
    }

    #[test]
    fn the_next_secret_takes_over_by_the_clock_alone() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let endpoint = EndpointId::generate(&clock, &entropy);
        let (old, new) = (Secret::generate(entropy.bytes()), Secret::generate(entropy.bytes()));
        let keys = secret_box("local-one", "");
        let seal = |secret| keys.seal(endpoint, secret, &entropy).unwrap();
        let from = DateTime::UNIX_EPOCH + chrono::TimeDelta::seconds(100);
        let staged = SealedSecrets { present: seal(&old), next: Some(Staged { secret: seal(&new), from }) };
        let just_before = from - chrono::TimeDelta::microseconds(1);

        let both = Secrets { present: old.clone(), next: Some(new.clone()) };
        assert_eq!(keys.open_all(endpoint, &staged, just_before), Ok(both));
        let one = Secrets { present: new.clone(), next: None };
        assert_eq!(keys.open_all(endpoint, &staged, from), Ok(one));
        assert!(staged.clone().at(just_before) == staged);
        let folded = staged.at(from);
        assert!(folded.next.is_none() && keys.open(endpoint, &folded.present) == Ok(new));
    }

    #[test]
    fn a_key_is_32_bytes() {
        let key = STANDARD.encode([7; 32]);
        let none = Setting::new("");
        assert!(SecretBox::new(&Setting::new(key.as_str()), &none).is_ok());
        assert!(SecretBox::new(&Setting::new(format!("{key}\n")), &none).is_ok());
        for bad in ["", "secret", &STANDARD.encode([7; 31]), &STANDARD.encode([7; 33])] {
            assert!(SecretBox::new(&Setting::new(bad), &none).is_err(), "{bad}");
        }
        let previous = |text: &str| SecretBox::new(&Setting::new(key.as_str()), &Setting::new(text));
        assert_eq!(previous(&format!(" {key} ,local-x,")).unwrap().key_ids().len(), 3);
        assert!(previous("secret").is_err());
    }
}
