//! API keys, as key-management verifies them.

use std::sync::Arc;

use domain::{ApiKey, ApiKeyId, Clock, KeySegment};
use internal_api::CallError;
use internal_api::keys::{AuthenticatedKey, KeyVerification, KeysClient};
use sha2::{Digest, Sha256};

use super::peer_cache::PeerCache;

pub struct KeyCache {
    client: KeysClient,
    segment: KeySegment,
    clock: Clock,
    cache: Arc<PeerCache<KeyVerification>>,
}

/// Why a caller is not authenticated.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticationError {
    #[error("the API key is not valid")]
    InvalidKey,
    #[error("the API key has expired")]
    ExpiredKey,
    #[error(transparent)]
    Unavailable(#[from] CallError),
}

impl KeyCache {
    pub fn new(client: KeysClient, segment: KeySegment, clock: Clock) -> Self {
        Self {
            client,
            segment,
            cache: PeerCache::new(clock.clone(), |verified| verified.key.is_some()),
            clock,
        }
    }

    /// The business and mode of this key. A key with a wrong form or checksum is refused without a call to
    /// key-management.
    pub async fn authenticate(&self, text: &str) -> Result<AuthenticatedKey, AuthenticationError> {
        let key = ApiKey::parse(text, &self.segment).map_err(|_| AuthenticationError::InvalidKey)?;
        let fetch = || {
            let (client, key) = (self.client.clone(), key.expose().to_owned());
            async move { client.verify(&key).await }
        };
        let KeyVerification { key: verified, expired } = self.cache.get(&cache_key(&key), fetch).await?;
        let now = self.clock.now();
        match verified {
            Some(verified) if verified.mode != key.mode() => Err(AuthenticationError::InvalidKey),
            // A cached answer may outlive the key.
            Some(verified) if verified.expires_at.is_some_and(|end| end <= now) => {
                Err(AuthenticationError::ExpiredKey)
            }
            Some(verified) => Ok(verified),
            None if expired => Err(AuthenticationError::ExpiredKey),
            None => Err(AuthenticationError::InvalidKey),
        }
    }

    /// Whether the key was valid when it was last verified, at most a minute ago. Makes no call.
    pub fn was_recently_valid(&self, text: &str) -> bool {
        ApiKey::parse(text, &self.segment).is_ok_and(|key| self.cache.last(&cache_key(&key)).is_some())
    }

    /// Drops a revoked key.
    pub fn invalidate(&self, key: ApiKeyId) {
        self.cache.invalidate(|_, cached| cached.key.as_ref().is_some_and(|cached| cached.key_id == key));
    }

    pub fn clear(&self) {
        self.cache.clear();
    }
}

/// The digest of a key. The cache does not hold the keys themselves.
fn cache_key(key: &ApiKey) -> String {
    base16ct::lower::encode_string(&Sha256::digest(key.expose().as_bytes()))
}
