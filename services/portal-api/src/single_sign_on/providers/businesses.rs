//! The providers of businesses. Strangers have chosen them: each has limits of its own, so that a provider that hangs delays no
//! other business and not the staff.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use domain::{BusinessId, Clock, Entropy};
use identity::single_sign_on::{Budget, ProviderError, ProviderHttp, RelyingParty, RelyingPartyOptions};
use identity::{Vault, VaultError};
use outbound::{NameServers, Policy, TargetRefused, VettingResolver};
use settings::Secret;
use tokio::sync::Semaphore;
use url::Url;

use crate::domain::Links;
use crate::single_sign_on::domain::SsoProvider;

/// Requests to the provider of one business at once.
const REQUESTS_MAX: usize = 8;
/// Requests to the providers of all businesses at once.
const ALL_REQUESTS_MAX: usize = 256;
/// Providers whose metadata and keys are kept in memory. The one that was not used for longest makes room.
const KEPT_MAX: usize = 256;
/// Separates the keys from those of other uses of the same secret.
const PURPOSE: &str = "waybill client secrets of businesses";

/// The values of the settings.
pub(crate) struct BusinessProvidersOptions<'a> {
    /// Whether the operator offers it.
    pub(crate) enabled: bool,
    /// The present and the previous key that encrypt the client secrets.
    pub(crate) keys: (Option<&'a Secret>, Option<&'a Secret>),
    pub(crate) policy: Policy,
    pub(crate) name_servers: &'a NameServers,
    pub(crate) links: Links,
}

pub(crate) struct BusinessProviders {
    /// `None` if it is off.
    vault: Option<Vault>,
    resolver: VettingResolver,
    client: reqwest::Client,
    policy: Policy,
    links: Links,
    clock: Clock,
    slots: Arc<Semaphore>,
    kept: Mutex<HashMap<BusinessId, Kept>>,
}

struct Kept {
    provider: SsoProvider,
    party: Arc<RelyingParty>,
    limits: Limits,
    used_at: DateTime<Utc>,
}

/// Changed settings do not reset them.
#[derive(Clone)]
struct Limits {
    slots: Arc<Semaphore>,
    budget: Arc<Budget>,
}

impl BusinessProviders {
    /// # Errors
    /// When the HTTP client or the resolver cannot be built.
    pub(crate) fn new(options: BusinessProvidersOptions<'_>, clock: &Clock) -> anyhow::Result<Self> {
        let resolver = if options.enabled {
            VettingResolver::new(options.name_servers, options.policy.clone())?
        } else {
            // The system's name servers are not needed.
            VettingResolver::with_lookup(options.policy.clone(), |_| {
                std::future::ready(Err(io::ErrorKind::Unsupported.into()))
            })
        };
        Ok(Self {
            vault: Vault::new(options.keys, PURPOSE)?.filter(|_| options.enabled),
            client: ProviderHttp::client_of_strangers(&resolver)?,
            resolver,
            policy: options.policy,
            links: options.links,
            clock: clock.clone(),
            slots: Arc::new(Semaphore::new(ALL_REQUESTS_MAX)),
            kept: Mutex::default(),
        })
    }

    /// Whether this installation offers it.
    pub(crate) fn is_available(&self) -> bool {
        self.vault.is_some()
    }

    /// The page that starts a log-in, and where the provider's log-out leads back to.
    pub(crate) fn log_in_url(&self, business: BusinessId) -> String {
        self.links.page(&format!("log-in/{business}"))
    }

    /// The page that the provider sends browsers back to. Each business has its own: a response that a browser brings from one provider
    /// never looks like one of another business's.
    pub(crate) fn redirect_url(&self, business: BusinessId) -> String {
        self.links.page(&format!("log-in/{business}/return"))
    }

    /// Checks what can be checked without a call: the scheme, and the host if it is an address.
    ///
    /// # Errors
    /// When the provider could not be called.
    pub(crate) fn vet_url(&self, url: &Url) -> Result<(), TargetRefused> {
        self.policy.vet_url(url)
    }

    pub(crate) fn seal(
        &self,
        business: BusinessId,
        client_secret: &str,
        entropy: &Entropy,
    ) -> Result<Vec<u8>, VaultError> {
        self.vault.as_ref().ok_or(VaultError)?.seal(&business.to_string(), client_secret, entropy)
    }

    /// The settings with the client secret encrypted with the present key. `None` if it already is.
    pub(crate) fn reseal(
        &self,
        business: BusinessId,
        provider: &SsoProvider,
        entropy: &Entropy,
    ) -> Result<Option<SsoProvider>, VaultError> {
        let vault = self.vault.as_ref().ok_or(VaultError)?;
        let resealed = vault.reseal(&business.to_string(), &provider.sealed_secret, entropy)?;
        Ok(resealed.map(|sealed_secret| SsoProvider { sealed_secret, ..provider.clone() }))
    }

    /// The provider with these settings. It keeps metadata and keys until the settings change.
    pub(crate) fn party(
        &self,
        business: BusinessId,
        provider: &SsoProvider,
    ) -> Result<Arc<RelyingParty>, ProviderError> {
        let now = self.clock.now();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get_mut(&business).filter(|known| known.provider == *provider) {
            known.used_at = now;
            return Ok(known.party.clone());
        }
        let limits = kept.get(&business).map_or_else(|| self.limits(), |known| known.limits.clone());
        let party = Arc::new(self.build(business, provider, &limits)?);
        let provider = provider.clone();
        kept.insert(business, Kept { provider, party: party.clone(), limits, used_at: now });
        if kept.len() > KEPT_MAX {
            let others = kept.iter().filter(|(other, _)| **other != business);
            if let Some(oldest) = others.min_by_key(|(_, kept)| kept.used_at).map(|(oldest, _)| *oldest) {
                kept.remove(&oldest);
            }
        }
        Ok(party)
    }

    fn limits(&self) -> Limits {
        Limits {
            slots: Arc::new(Semaphore::new(REQUESTS_MAX)),
            budget: Arc::new(Budget::new(self.clock.clone())),
        }
    }

    fn build(
        &self,
        business: BusinessId,
        provider: &SsoProvider,
        limits: &Limits,
    ) -> Result<RelyingParty, ProviderError> {
        let unusable = |reason: String| ProviderError::Unavailable(reason);
        let vault = self.vault.as_ref().ok_or_else(|| unusable(VaultError.to_string()))?;
        let secret = vault.open(&business.to_string(), &provider.sealed_secret);
        let secret = secret.map_err(|error| unusable(error.to_string()))?;
        let options = RelyingPartyOptions {
            issuer: &provider.issuer,
            client_id: &provider.client_id,
            client_secret: &secret,
            redirect_url: self.redirect_url(business),
            scopes: &provider.scopes,
            groups_claim: provider.groups_claim.clone(),
            allow_plain_http: self.policy.allow_http,
        };
        let http = ProviderHttp::of_stranger(
            self.client.clone(),
            self.resolver.clone(),
            self.slots.clone(),
            limits.budget.clone(),
        );
        RelyingParty::new(options, http, limits.slots.clone(), &self.clock)
            .map_err(|error| unusable(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn providers(clock: &Clock) -> BusinessProviders {
        let key = Secret::new("a key that encrypts secrets");
        let options = BusinessProvidersOptions {
            enabled: true,
            keys: (Some(&key), None),
            policy: Policy::default(),
            name_servers: &"192.0.2.1".parse().unwrap(),
            links: Links::new(Url::parse("https://portal.example").unwrap()),
        };
        BusinessProviders::new(options, clock).unwrap()
    }

    fn provider(of: &BusinessProviders, business: BusinessId, entropy: &Entropy) -> SsoProvider {
        SsoProvider {
            issuer: "https://id.example.com".to_owned(),
            client_id: "waybill".to_owned(),
            sealed_secret: of.seal(business, "the secret", entropy).unwrap(),
            scopes: "email".to_owned(),
            groups_claim: "groups".to_owned(),
        }
    }

    #[tokio::test]
    async fn a_provider_is_kept_until_its_settings_change_and_its_limits_stay() {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(1));
        let providers = providers(&clock);
        let business = BusinessId::generate(&clock, &entropy);
        let first = provider(&providers, business, &entropy);
        let party = providers.party(business, &first).unwrap();
        assert!(Arc::ptr_eq(&party, &providers.party(business, &first).unwrap()));
        let slots = || providers.kept.lock().unwrap()[&business].limits.slots.clone();
        let before = slots();
        let _busy = before.try_acquire().unwrap();
        let changed = SsoProvider { client_id: "another".to_owned(), ..first };
        let next = providers.party(business, &changed).unwrap();
        assert!(!Arc::ptr_eq(&party, &next));
        assert_eq!(slots().available_permits(), REQUESTS_MAX - 1);
    }

    #[tokio::test]
    async fn the_providers_in_memory_are_bounded_and_the_oldest_makes_room() {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(1));
        let providers = providers(&clock);
        let businesses: Vec<_> = (0..=KEPT_MAX).map(|_| BusinessId::generate(&clock, &entropy)).collect();
        for business in &businesses {
            clock.advance(chrono::TimeDelta::seconds(1));
            providers.party(*business, &provider(&providers, *business, &entropy)).unwrap();
        }
        let kept = providers.kept.lock().unwrap();
        assert_eq!(kept.len(), KEPT_MAX);
        assert!(!kept.contains_key(&businesses[0]) && kept.contains_key(&businesses[1]));
    }

    #[tokio::test]
    async fn a_secret_opens_for_its_business_only() {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(1));
        let providers = providers(&clock);
        let [own, other] = [(); 2].map(|()| BusinessId::generate(&clock, &entropy));
        let stolen = provider(&providers, other, &entropy);
        assert!(matches!(providers.party(own, &stolen), Err(ProviderError::Unavailable(_))));
    }
}
