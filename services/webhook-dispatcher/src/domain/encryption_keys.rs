//! The keys that encrypt signing secrets at rest.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use settings::Secret;
use sha2::{Digest, Sha256};

/// The setting is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the base64 of exactly 32 bytes, for instance from `openssl rand -base64 32`")]
pub(crate) struct InvalidKey;

/// One AES-256 key.
pub(crate) struct EncryptionKey {
    /// Identifies the key without revealing it.
    pub id: String,
    pub bytes: [u8; 32],
}

impl EncryptionKey {
    /// # Errors
    /// When the text is neither base64 of 32 bytes nor marked as a key of a local stack.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidKey> {
        let bytes: [u8; 32] = if text.starts_with(Secret::LOCAL_PREFIX) {
            Sha256::digest(text).into()
        } else {
            STANDARD.decode(text.trim()).map_err(|_| InvalidKey)?.try_into().map_err(|_| InvalidKey)?
        };
        let digest = Sha256::new().chain_update(b"waybill key id").chain_update(bytes).finalize();
        let id = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { id, bytes })
    }

    /// Reads keys separated by commas.
    ///
    /// # Errors
    /// When one of them is not a key.
    pub(crate) fn parse_list(text: &str) -> Result<Vec<Self>, InvalidKey> {
        settings::comma_separated_parts(text).map(Self::parse).collect()
    }
}

/// All keys of this process.
pub(crate) struct EncryptionKeys {
    /// Encrypts and decrypts.
    pub current: EncryptionKey,
    /// Only decrypt: secrets that were encrypted before the current key was introduced.
    pub previous: Vec<EncryptionKey>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_32_bytes() {
        let key = STANDARD.encode([7; 32]);
        assert!(EncryptionKey::parse(&key).is_ok());
        assert!(EncryptionKey::parse(&format!("{key}\n")).is_ok());
        for bad in ["", "secret", &STANDARD.encode([7; 31]), &STANDARD.encode([7; 33])] {
            assert!(EncryptionKey::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(EncryptionKey::parse_list(&format!(" {key} ,local-x,")).unwrap_or_default().len(), 2);
        assert!(EncryptionKey::parse_list("secret").is_err());
    }
}
