//! The keyed hash under which a key is stored. A key has 178 random bits, so a slow hash would add no protection. The
//! pepper prevents anyone with a copy of the table from testing keys against it.

use domain::ApiKey;
use hmac::{Hmac, KeyInit, Mac};
use settings::Secret;
use sha2::Sha256;

pub(crate) type KeyHash = [u8; 32];

/// Hashes keys with the installation's pepper.
#[derive(Clone)]
pub(crate) struct KeyHasher {
    // Keyed once; each hash copies it.
    keyed: Hmac<Sha256>,
}

impl KeyHasher {
    /// # Errors
    /// Never in practice: HMAC accepts keys of any length.
    pub(crate) fn new(pepper: &Secret) -> anyhow::Result<Self> {
        Ok(Self { keyed: Hmac::new_from_slice(pepper.expose().as_bytes())? })
    }

    pub(crate) fn hash(&self, key: &ApiKey) -> KeyHash {
        let mut mac = self.keyed.clone();
        mac.update(key.expose().as_bytes());
        mac.finalize().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use domain::{Entropy, KeySegment, Mode};

    use super::*;

    #[test]
    fn the_hash_depends_on_the_key_and_on_the_pepper() {
        let segment = KeySegment::new("waybill").unwrap();
        let entropy = Entropy::seeded(1);
        let key = ApiKey::generate(Mode::Test, &segment, &entropy);
        let other = ApiKey::generate(Mode::Test, &segment, &entropy);
        let hasher = KeyHasher::new(&Secret::new("one pepper")).unwrap();
        assert_eq!(hasher.hash(&key), hasher.hash(&key));
        assert_ne!(hasher.hash(&key), hasher.hash(&other));
        assert_ne!(hasher.hash(&key), KeyHasher::new(&Secret::new("another")).unwrap().hash(&key));
    }
}
