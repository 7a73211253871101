//! The metadata and keys of an identity provider, cached. A provider that is unreachable delays nobody for long.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use domain::Clock;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use openidconnect::core::{
    CoreAuthDisplay, CoreClaimName, CoreClaimType, CoreClientAuthMethod, CoreGrantType, CoreJsonWebKey,
    CoreJsonWebKeySet, CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm, CoreResponseMode,
    CoreResponseType, CoreSubjectIdentifierType,
};
use openidconnect::{AdditionalProviderMetadata, DiscoveryError, IssuerUrl, ProviderMetadata};
use serde::{Deserialize, Serialize};
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
    /// OpenID Connect Prompt Create 1.0.
    pub(super) prompt_values_supported: Option<Vec<String>>,
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
    /// Never locked while the provider is called.
    cache: Mutex<Cache>,
}

type Checked = (DateTime<Utc>, Result<Arc<Metadata>, ProviderError>);

#[derive(Default)]
struct Cache {
    metadata: Option<(Arc<Metadata>, DateTime<Utc>)>,
    failed_at: Option<DateTime<Utc>>,
    keys_sought_at: Option<DateTime<Utc>>,
    /// Metadata is being read: those who have none wait for it, too. It ends when nobody waits any more.
    reading: Option<WeakShared<Answer>>,
    /// The latest [`Provider::check`].
    checked: Option<Checked>,
}

type Answer = BoxFuture<'static, Result<Arc<Metadata>, ProviderError>>;
type Reading = Shared<Answer>;

/// What a caller does who needs metadata.
enum Step {
    Take(Result<Arc<Metadata>, ProviderError>),
    /// The old metadata, if there is any, replaces an answer that does not come.
    Wait(Reading, Option<Arc<Metadata>>),
}

impl Provider {
    pub(super) fn new(issuer: IssuerUrl, http: ProviderHttp, clock: Clock, allow_plain_http: bool) -> Self {
        Self { issuer, http, clock, allow_plain_http, cache: Mutex::default() }
    }

    /// The metadata with the keys. Old ones, if the provider cannot be reached now, or somebody else is asking it.
    pub(super) async fn metadata(&self) -> Result<Arc<Metadata>, ProviderError> {
        match self.step() {
            Step::Take(metadata) => metadata,
            Step::Wait(reading, stale) => {
                let found = reading.clone().await;
                self.finish(&reading, &found);
                stale.map_or(found.clone(), |stale| Ok(found.unwrap_or(stale)))
            }
        }
    }

    fn step(&self) -> Step {
        let (mut cache, now) = (self.cache(), self.clock.now());
        let stale = match &cache.metadata {
            Some((metadata, read_at)) if now < *read_at + FRESH_FOR => {
                return Step::Take(Ok(metadata.clone()));
            }
            other => other.as_ref().map(|(metadata, _)| metadata.clone()),
        };
        match (cache.reading.as_ref().and_then(WeakShared::upgrade), stale) {
            (Some(_), Some(stale)) => Step::Take(Ok(stale)),
            (Some(reading), None) => Step::Wait(reading, None),
            (None, stale) if cache.failed_at.is_some_and(|failed_at| now < failed_at + BACK_OFF) => {
                let failed = || ProviderError::Unavailable("the provider has just failed".to_owned());
                Step::Take(stale.ok_or_else(failed))
            }
            (None, stale) => {
                let (issuer, http, plain) = (self.issuer.clone(), self.http.clone(), self.allow_plain_http);
                let answer = async move { discover(issuer, &http, plain).await.map(Arc::new) };
                let reading = answer.boxed().shared();
                cache.reading = reading.downgrade();
                Step::Wait(reading, stale)
            }
        }
    }

    /// Keeps the outcome, once: all who wait for it come here.
    fn finish(&self, reading: &Reading, found: &Result<Arc<Metadata>, ProviderError>) {
        let mut cache = self.cache();
        let present = cache.reading.as_ref().and_then(WeakShared::upgrade);
        if !present.is_some_and(|present| present.ptr_eq(reading)) {
            return;
        }
        match found {
            Ok(found) => {
                let checked = cache.checked.take();
                *cache =
                    Cache { metadata: Some((found.clone(), self.clock.now())), checked, ..Cache::default() };
            }
            Err(error) => {
                tracing::warn!(%error, "reading the metadata of the identity provider failed");
                // The attempt itself may have taken most of the wait.
                cache.failed_at = Some(self.clock.now());
                cache.reading = None;
            }
        }
    }

    /// Reads the metadata now, except just after another check.
    pub(super) async fn check(&self) -> Result<Arc<Metadata>, ProviderError> {
        let now = self.clock.now();
        let checked = self.cache().checked.clone();
        if let Some((_, outcome)) = checked.filter(|(at, _)| now < *at + BACK_OFF) {
            return outcome;
        }
        let outcome = discover(self.issuer.clone(), &self.http, self.allow_plain_http).await.map(Arc::new);
        let mut cache = self.cache();
        if let Ok(found) = &outcome {
            *cache = Cache { metadata: Some((found.clone(), now)), ..Cache::default() };
        }
        cache.checked = Some((now, outcome.clone()));
        outcome
    }

    /// Reads the keys again, unless that happened a moment ago.
    pub(super) async fn metadata_with_new_keys(&self) -> Result<Arc<Metadata>, ProviderError> {
        let known = self.metadata().await?;
        let now = self.clock.now();
        {
            let mut cache = self.cache();
            if cache.keys_sought_at.is_some_and(|sought_at| now < sought_at + KEYS_INTERVAL) {
                return Ok(cache.metadata.as_ref().map_or(known, |(metadata, _)| metadata.clone()));
            }
            cache.keys_sought_at = Some(now);
        }
        let keys = CoreJsonWebKeySet::fetch_async(known.jwks_uri(), &self.http).await.map_err(discovery)?;
        let metadata = Arc::new(Metadata::clone(&known).set_jwks(keys));
        let mut cache = self.cache();
        let read_at = cache.metadata.as_ref().map_or(now, |(_, read_at)| *read_at);
        cache.metadata = Some((metadata.clone(), read_at));
        Ok(metadata)
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn discover(
    issuer: IssuerUrl,
    http: &ProviderHttp,
    allow_plain_http: bool,
) -> Result<Metadata, ProviderError> {
    let metadata = Metadata::discover_async(issuer, http).await.map_err(discovery)?;
    let logs_out_at = metadata.additional_metadata().end_session_endpoint.as_ref();
    // Browsers are sent there.
    let visited = [metadata.authorization_endpoint().url()].into_iter().chain(logs_out_at);
    for url in visited {
        if url.scheme() != "https" && !(allow_plain_http && url.scheme() == "http") {
            return Err(ProviderError::Unavailable("the metadata has an endpoint without https".to_owned()));
        }
    }
    Ok(metadata)
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
