//! Encrypts secrets that the service must read again: those of authenticator apps, and client secrets of identity providers.

use domain::Entropy;
use settings::Secret;

use super::token_cipher::TokenCipher;

/// The present key, and the one before.
pub struct Vault {
    current: TokenCipher,
    previous: Option<TokenCipher>,
}

/// The key is missing, or is not the one that encrypted the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the secret cannot be encrypted or decrypted")]
pub struct VaultError;

impl Vault {
    /// `None` without a key. The purpose separates the keys from those of other uses of the same secret.
    pub fn new(
        (key, previous): (Option<&Secret>, Option<&Secret>),
        purpose: &str,
    ) -> anyhow::Result<Option<Self>> {
        let cipher = |key: &Secret| TokenCipher::for_purpose(key, purpose);
        let Some(key) = key else { return Ok(None) };
        Ok(Some(Self { current: cipher(key)?, previous: previous.map(cipher).transpose()? }))
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

    /// Decrypts with the present key or the previous one.
    pub fn open(&self, owner: &str, sealed: &[u8]) -> Result<String, VaultError> {
        let mut ciphers = std::iter::once(&self.current).chain(&self.previous);
        ciphers.find_map(|cipher| cipher.decrypt(owner, sealed).ok()).ok_or(VaultError)
    }
}
