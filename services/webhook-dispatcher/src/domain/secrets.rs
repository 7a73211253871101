//! An endpoint's signing secrets: the current one and, during a rotation, the staged one.

use chrono::{DateTime, Utc};
use webhook_signature::Secret;

/// A signing secret as it is stored.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct EncryptedSecret {
    /// Identifies the encryption key without revealing it.
    pub key_id: String,
    /// The nonce, then the ciphertext with its tag.
    pub ciphertext: Vec<u8>,
}

/// An endpoint's secrets as they are stored.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct EncryptedSecrets {
    pub current: EncryptedSecret,
    pub next: Option<StagedSecret>,
}

/// The result of a rotation: replaces the current secret at a set time.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StagedSecret {
    pub secret: EncryptedSecret,
    /// From this time it is the current secret, even before a worker has updated the row.
    pub from: DateTime<Utc>,
}

impl EncryptedSecrets {
    pub(crate) fn without_staged(current: EncryptedSecret) -> Self {
        Self { current, next: None }
    }

    /// The secrets that are valid at this time: a staged secret whose time has come is the current one.
    pub(crate) fn at(self, now: DateTime<Utc>) -> Self {
        match self.next {
            Some(next) if next.from <= now => Self::without_staged(next.secret),
            _ => self,
        }
    }

    /// As [`Self::at`], by reference: the current secret and the staged one.
    pub(crate) fn signing(&self, now: DateTime<Utc>) -> (&EncryptedSecret, Option<&EncryptedSecret>) {
        match &self.next {
            Some(next) if next.from <= now => (&next.secret, None),
            Some(next) => (&self.current, Some(&next.secret)),
            None => (&self.current, None),
        }
    }
}

/// The decrypted secrets that sign an endpoint's webhooks at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SigningSecrets {
    pub current: Secret,
    pub next: Option<Secret>,
}
