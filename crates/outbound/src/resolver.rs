//! The vetting resolver: resolves a name for every connection, and connects to exactly the addresses that it vetted. A
//! name therefore cannot pass the check with one address and be called at another (DNS rebinding).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::config::{LookupIpStrategy, NameServerConfig, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::Name as DnsName;
use hickory_resolver::{Resolver, TokioResolver};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::{NameServers, Policy, TargetRefused};

/// The time limit of a lookup for a connection.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(4);
/// The time limit while an owner sets up an endpoint. Callers wait 3 s for the response: with a longer limit they would
/// see an error although the endpoint was created, and its secret would be lost.
const SETUP_LOOKUP_TIMEOUT: Duration = Duration::from_secs(2);
/// Of one query to one name server.
const QUERY_TIMEOUT: Duration = Duration::from_millis(1_500);
const QUERIES_MAX: usize = 2;
/// All addresses are vetted; connections are tried to this many.
const ADDRESSES_MAX: usize = 8;

type LookupFuture = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;
type Lookup = Arc<dyn Fn(String) -> LookupFuture + Send + Sync>;

/// Why a name gets no connection.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error(transparent)]
    Refused(#[from] TargetRefused),
    #[error("{0} cannot be resolved")]
    Unknown(String),
}

/// Resolves names and vets their addresses.
#[derive(Clone)]
pub struct VettingResolver {
    policy: Policy,
    lookup: Lookup,
}

impl VettingResolver {
    /// Uses these name servers, or those of `/etc/resolv.conf` if there are none.
    ///
    /// # Errors
    /// When `/etc/resolv.conf` is needed and cannot be read.
    pub fn new(servers: &NameServers, policy: Policy) -> Result<Self, NetError> {
        let resolver = resolver(servers)?;
        Ok(Self::with_lookup(policy, move |name| {
            let resolver = resolver.clone();
            async move {
                // A search list could change the name.
                let mut name = DnsName::from_utf8(&name).map_err(io::Error::other)?;
                name.set_fqdn(true);
                let found = resolver.lookup_ip(name).await.map_err(io::Error::other)?;
                Ok(found.iter().collect())
            }
        }))
    }

    /// Resolves names in another way, for tests.
    pub fn with_lookup<F>(policy: Policy, lookup: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        Self { policy, lookup: Arc::new(move |name| Box::pin(lookup(name))) }
    }

    /// Checks the URL without resolving its host, which is vetted at each connection.
    ///
    /// # Errors
    /// When the URL must not be called.
    pub fn vet_url(&self, url: &Url) -> Result<(), TargetRefused> {
        self.policy.vet_url(url)
    }

    /// Checks the URL and the current addresses of its host. A name that cannot be resolved passes: its owner may set
    /// it up later, and it is vetted at each connection.
    ///
    /// # Errors
    /// When the URL must not be called.
    pub async fn vet_target(&self, url: &Url) -> Result<(), TargetRefused> {
        self.vet_url(url)?;
        let Some(Host::Domain(name)) = url.host() else { return Ok(()) };
        match tokio::time::timeout(SETUP_LOOKUP_TIMEOUT, self.addresses(name)).await {
            // A timeout counts as an unknown name.
            Ok(Ok(_) | Err(ResolveError::Unknown(_))) | Err(_) => Ok(()),
            Ok(Err(ResolveError::Refused(refused))) => Err(refused),
        }
    }

    /// The addresses of a URL that may be called.
    ///
    /// # Errors
    /// When the URL must not be called, or its host is unknown.
    pub async fn sockets(&self, url: &Url) -> Result<Vec<SocketAddr>, ResolveError> {
        self.vet_url(url)?;
        let addresses = match url.host() {
            Some(Host::Domain(name)) => self.addresses(name).await?,
            Some(Host::Ipv4(address)) => vec![address.into()],
            Some(Host::Ipv6(address)) => vec![address.into()],
            None => Vec::new(),
        };
        let port = url.port_or_known_default().unwrap_or_default();
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect())
    }

    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, ResolveError> {
        let unknown = || ResolveError::Unknown(name.to_owned());
        // No name server decides what localhost is.
        let mut addresses = match self.policy.local_addresses(name) {
            Some(addresses) => addresses?,
            None => tokio::time::timeout(LOOKUP_TIMEOUT, (self.lookup)(name.to_owned()))
                .await
                .map_err(|_| unknown())?
                .map_err(|_| unknown())?,
        };
        if addresses.is_empty() {
            return Err(unknown());
        }
        self.policy.vet(name, &addresses)?;
        addresses.truncate(ADDRESSES_MAX);
        Ok(addresses)
    }
}

/// Queries both address families and caches nothing: only the current addresses count.
fn resolver(servers: &NameServers) -> Result<TokioResolver, NetError> {
    let mut builder = if servers.is_empty() {
        Resolver::builder_tokio()?
    } else {
        let servers = servers.iter().map(|server| {
            let mut config = NameServerConfig::udp_and_tcp(server.ip());
            config.connections.iter_mut().for_each(|connection| connection.port = server.port());
            config
        });
        let config = ResolverConfig::from_name_servers(servers.collect());
        Resolver::builder_with_config(config, TokioRuntimeProvider::default())
    };
    let options = builder.options_mut();
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.cache_size = 0;
    options.timeout = QUERY_TIMEOUT;
    options.attempts = QUERIES_MAX;
    builder.build()
}

impl Resolve for VettingResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let addresses = resolver.addresses(name.as_str()).await?;
            let addresses: Addrs = Box::new(addresses.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Resolves names as a hostile name server would.
    fn hostile(policy: Policy) -> VettingResolver {
        let lookups = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        VettingResolver::with_lookup(policy, move |name| {
            let lookup = lookups.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let addresses: &[&str] = match name.as_str() {
                "public.example" => &["1.1.1.1", "2606:4700::1111"],
                "loopback.example" => &["127.0.0.1"],
                "mapped.example" => &["::ffff:127.0.0.1"],
                "metadata.example" => &["169.254.169.254"],
                "mixed.example" => &["1.1.1.1", "10.0.0.1"],
                "v6.example" => &["fd00::1"],
                "nat64.example" => &["64:ff9b::a9fe:a9fe"],
                // A public address for the check, then a private one for the call.
                "rebinding.example" if lookup == 0 => &["1.1.1.1"],
                "rebinding.example" => &["127.0.0.1"],
                "empty.example" => &[],
                _ => return futures_util::future::ready(Err(io::ErrorKind::NotFound.into())),
            };
            futures_util::future::ready(Ok(addresses.iter().filter_map(|text| text.parse().ok()).collect()))
        })
    }

    fn url(host: &str) -> Url {
        Url::parse(&format!("https://{host}/hook")).unwrap()
    }

    #[tokio::test]
    async fn names_with_private_addresses_are_refused() {
        let resolver = hostile(Policy::default());
        for host in [
            "loopback.example",
            "mapped.example",
            "metadata.example",
            "mixed.example",
            "v6.example",
            "nat64.example",
        ] {
            let refused = Err(TargetRefused::NotPublic { host: host.to_owned() });
            assert_eq!(resolver.vet_target(&url(host)).await, refused, "{host}");
            let error = resolver.resolve(host.parse().unwrap()).await.err().unwrap();
            assert!(matches!(error.downcast_ref(), Some(ResolveError::Refused(_))), "{host}");
        }
    }

    #[tokio::test]
    async fn other_names_pass_even_if_they_do_not_exist_yet() {
        let resolver = hostile(Policy::default());
        for host in ["public.example", "nowhere.example", "empty.example", "1.1.1.1"] {
            assert_eq!(resolver.vet_target(&url(host)).await, Ok(()), "{host}");
        }
        let error = resolver.resolve("empty.example".parse().unwrap()).await.err().unwrap();
        assert!(matches!(error.downcast_ref(), Some(ResolveError::Unknown(_))));
    }

    #[tokio::test]
    async fn a_rebinding_name_is_refused_when_it_is_called() {
        let resolver = hostile(Policy::default());
        assert_eq!(resolver.vet_target(&url("rebinding.example")).await, Ok(()));
        let error = resolver.resolve("rebinding.example".parse().unwrap()).await.err().unwrap();
        assert!(matches!(error.downcast_ref(), Some(ResolveError::Refused(_))));
    }
}
