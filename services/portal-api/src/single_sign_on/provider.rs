//! The metadata and keys of an identity provider, cached. A provider that is unreachable delays nobody for long.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use domain::Clock;
use openidconnect::core::{
    CoreAuthDisplay, CoreClaimName, CoreClaimType, CoreClientAuthMethod, CoreGrantType, CoreJsonWebKey,
    CoreJsonWebKeySet, CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm, CoreResponseMode,
    CoreResponseType, CoreSubjectIdentifierType,
};
use openidconnect::{AdditionalProviderMetadata, DiscoveryError, IssuerUrl, ProviderMetadata};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use url::Url;

use super::ProviderError;
use super::http::{HttpError, ProviderHttp};

/// Metadata is read again after this time.
const FRESH_FOR: TimeDelta = TimeDelta::hours(1);
/// After a failure, callers fail at once for this long.
const BACK_OFF: TimeDelta = TimeDelta::seconds(10);
/// Tokens with an unknown key id cause at most one look for new keys in this time.
const KEYS_INTERVAL: TimeDelta = TimeDelta::minutes(1);

/// Metadata beyond OpenID Connect Discovery.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct MoreMetadata {
    /// RFC 9207.
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
    /// OpenID Connect RP-Initiated Logout.
    pub(super) end_session_endpoint: Option<Url>,
}

impl AdditionalProviderMetadata for MoreMetadata {}

pub(super) type Metadata = ProviderMetadata<
    MoreMetadata,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

/// A provider, known by its issuer.
pub(super) struct Provider {
    pub(super) issuer: IssuerUrl,
    pub(super) http: ProviderHttp,
    clock: Clock,
    allow_plain_http: bool,
    /// Locked while metadata is read, so that simultaneous callers read it once.
    cache: Mutex<Cache>,
}

type Checked = (DateTime<Utc>, Result<Arc<Metadata>, ProviderError>);

#[derive(Default)]
struct Cache {
    metadata: Option<(Arc<Metadata>, DateTime<Utc>)>,
    failed_at: Option<DateTime<Utc>>,
    keys_sought_at: Option<DateTime<Utc>>,
    /// The latest [`Provider::check`].
    checked: Option<Checked>,
}

impl Provider {
    pub(super) fn new(issuer: IssuerUrl, http: ProviderHttp, clock: Clock, allow_plain_http: bool) -> Self {
        Self { issuer, http, clock, allow_plain_http, cache: Mutex::default() }
    }

    /// The metadata with the keys. Old ones, if the provider cannot be reached now.
    pub(super) async fn metadata(&self) -> Result<Arc<Metadata>, ProviderError> {
        let (mut cache, now) = (self.cache.lock().await, self.clock.now());
        let stale = match &cache.metadata {
            Some((metadata, read_at)) if now < *read_at + FRESH_FOR => return Ok(metadata.clone()),
            other => other.as_ref().map(|(metadata, _)| metadata.clone()),
        };
        let found = if cache.failed_at.is_some_and(|failed_at| now < failed_at + BACK_OFF) {
            Err(ProviderError::Unavailable("the provider has just failed".to_owned()))
        } else {
            self.discover().await
        };
        match (found, stale) {
            (Ok(found), _) => {
                let found = Arc::new(found);
                *cache = Cache { metadata: Some((found.clone(), now)), ..Cache::default() };
                Ok(found)
            }
            (Err(error), stale) => {
                if cache.failed_at.is_none_or(|failed_at| now >= failed_at + BACK_OFF) {
                    tracing::warn!(%error, "reading the metadata of the identity provider failed");
                    // The attempt itself may have taken most of the wait.
                    cache.failed_at = Some(self.clock.now());
                }
                stale.ok_or(error)
            }
        }
    }

    /// Reads the metadata now, except just after another check.
    pub(super) async fn check(&self) -> Result<Arc<Metadata>, ProviderError> {
        let (mut cache, now) = (self.cache.lock().await, self.clock.now());
        if let Some((at, outcome)) = &cache.checked
            && now < *at + BACK_OFF
        {
            return outcome.clone();
        }
        let outcome = self.discover().await.map(Arc::new);
        if let Ok(found) = &outcome {
            *cache = Cache { metadata: Some((found.clone(), now)), ..Cache::default() };
        }
        cache.checked = Some((now, outcome.clone()));
        outcome
    }

    /// Reads the keys again, unless that happened a moment ago.
    pub(super) async fn metadata_with_new_keys(&self) -> Result<Arc<Metadata>, ProviderError> {
        let known = self.metadata().await?;
        let (mut cache, now) = (self.cache.lock().await, self.clock.now());
        if cache.keys_sought_at.is_some_and(|sought_at| now < sought_at + KEYS_INTERVAL) {
            return Ok(cache.metadata.as_ref().map_or(known, |(metadata, _)| metadata.clone()));
        }
        cache.keys_sought_at = Some(now);
        let keys = CoreJsonWebKeySet::fetch_async(known.jwks_uri(), &self.http).await.map_err(discovery)?;
        let metadata = Arc::new(Metadata::clone(&known).set_jwks(keys));
        let read_at = cache.metadata.as_ref().map_or(now, |(_, read_at)| *read_at);
        cache.metadata = Some((metadata.clone(), read_at));
        Ok(metadata)
    }

    async fn discover(&self) -> Result<Metadata, ProviderError> {
        let metadata = Metadata::discover_async(self.issuer.clone(), &self.http).await.map_err(discovery)?;
        let logs_out_at = metadata.additional_metadata().end_session_endpoint.as_ref();
        // Browsers are sent there.
        let visited = [metadata.authorization_endpoint().url()].into_iter().chain(logs_out_at);
        for url in visited {
            if url.scheme() != "https" && !(self.allow_plain_http && url.scheme() == "http") {
                return Err(ProviderError::Unavailable(
                    "the metadata has an endpoint without https".to_owned(),
                ));
            }
        }
        Ok(metadata)
    }
}

fn discovery(error: DiscoveryError<HttpError>) -> ProviderError {
    ProviderError::Unavailable(match error {
        DiscoveryError::Request(error) => error.to_string(),
        // Without the body, which may be anything.
        DiscoveryError::Response(status, _, _) => format!("the provider answered {status}, or not with JSON"),
        DiscoveryError::Parse(error) => format!("the metadata cannot be read: {error}"),
        other => other.to_string(),
    })
}
