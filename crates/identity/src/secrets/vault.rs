//! Encrypts secrets that the service must read again: those of authenticator apps, client secrets of identity providers,
//! and the tokens of links in queued mails.

use domain::Entropy;
use settings::Secret;

use super::token_cipher::TokenCipher;

/// The present key, and others that only decrypt.
pub struct Vault {
    current: TokenCipher,
    others: Vec<TokenCipher>,
}

/// The key is missing, or is not the one that encrypted the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the secret cannot be encrypted or decrypted")]
pub struct VaultError;

impl Vault {
    /// `None` without a key.
    pub fn new(
        (key, previous): (Option<&Secret>, Option<&Secret>),
        purpose: &str,
    ) -> anyhow::Result<Option<Self>> {
        key.map(|key| Self::with_others(key, previous, purpose)).transpose()
    }

    /// The purpose separates the keys from those of other uses of the same secret.
    pub fn with_others<'a>(
        key: &Secret,
        others: impl IntoIterator<Item = &'a Secret>,
        purpose: &str,
    ) -> anyhow::Result<Self> {
        let cipher = |key: &Secret| TokenCipher::for_purpose(key, purpose);
        Ok(Self { current: cipher(key)?, others: others.into_iter().map(cipher).collect::<Result<_, _>>()? })
    }

    /// Encrypts with the present key, for one owner.
    pub fn seal(&self, owner: &str, secret: &str, entropy: &Entropy) -> Result<Vec<u8>, VaultError> {
        self.current.encrypt(owner, secret, entropy).map_err(|_| VaultError)
    }

    /// The secret, encrypted with the present key. `None` if it already is.
    pub fn reseal(
        &self,
        owner: &str,
        sealed: &[u8],
        entropy: &Entropy,
    ) -> Result<Option<Vec<u8>>, VaultError> {
        if self.current.decrypt(owner, sealed).is_ok() {
            return Ok(None);
        }
        self.seal(owner, &self.open(owner, sealed)?, entropy).map(Some)
    }

    /// Decrypts with the present key or another one.
    pub fn open(&self, owner: &str, sealed: &[u8]) -> Result<String, VaultError> {
        let mut ciphers = std::iter::once(&self.current).chain(&self.others);
        ciphers.find_map(|cipher| cipher.decrypt(owner, sealed).ok()).ok_or(VaultError)
    }
}
