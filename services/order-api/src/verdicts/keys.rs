//! Who is calling: the API key of a request, judged by key-management.

use std::sync::Arc;

use domain::{ApiKey, ApiKeyId, Clock, KeySegment};
use internal_api::CallError;
use internal_api::keys::{AuthenticatedKey, KeysClient};
use sha2::{Digest, Sha256};

use super::VerdictCache;

pub struct KeyVerdicts {
    client: KeysClient,
    segment: KeySegment,
    clock: Clock,
    cache: Arc<VerdictCache<Option<AuthenticatedKey>>>,
}

/// Why a caller is not let in.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error("the API key is not valid")]
    InvalidKey,
    #[error(transparent)]
    Unavailable(#[from] CallError),
}

impl KeyVerdicts {
    pub fn new(client: KeysClient, segment: KeySegment, clock: Clock) -> Self {
        Self { client, segment, cache: VerdictCache::new(clock.clone(), Option::is_some), clock }
    }

    /// Whose key this is, and for which mode. A key with a wrong form or checksum is refused without asking.
    pub async fn judge(&self, text: &str) -> Result<AuthenticatedKey, AuthError> {
        let key = ApiKey::parse(text, &self.segment).map_err(|_| AuthError::InvalidKey)?;
        let ask = || {
            let (client, key) = (self.client.clone(), key.expose().to_owned());
            async move { Ok(client.verify(&key).await?.key) }
        };
        let verdict = self.cache.get(&cache_key(&key), ask).await?.ok_or(AuthError::InvalidKey)?;
        let expired = verdict.expires_at.is_some_and(|expires_at| expires_at <= self.clock.now());
        if expired || verdict.mode != key.mode() { Err(AuthError::InvalidKey) } else { Ok(verdict) }
    }

    /// Whether the key was good when it was last asked about, a minute ago at most. Asks nobody.
    pub fn was_good_of_late(&self, text: &str) -> bool {
        ApiKey::parse(text, &self.segment).is_ok_and(|key| self.cache.last(&cache_key(&key)).is_some())
    }

    pub fn revoked(&self, key: ApiKeyId) {
        self.cache.drop_where(|_, verdict| verdict.as_ref().is_some_and(|verdict| verdict.key_id == key));
    }

    pub fn forget_all(&self) {
        self.cache.clear();
    }
}

/// Keys are remembered by their digest: the keys themselves are not kept in memory.
fn cache_key(key: &ApiKey) -> String {
    use std::fmt::Write;
    Sha256::digest(key.expose().as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _infallible = write!(hex, "{byte:02x}");
        hex
    })
}
