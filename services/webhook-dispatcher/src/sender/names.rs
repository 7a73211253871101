//! The vetting resolver: a name is looked up anew for every connection, and the connection is made to the very
//! addresses that were vetted, so that a name cannot lead to one place when it is checked and to another when it is
//! called.

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

use crate::domain::{NameServers, Policy, Refused};

/// How long a look-up may take. No webhook waits longer for name servers that do not answer.
const LOOK_UP_MAX: Duration = Duration::from_secs(4);
/// How long it may take while an owner waits who sets up an endpoint. Shorter than what our callers wait for an answer
/// (3 s): else they would be told of an error, and the endpoint be made all the same, whose secret nobody has seen.
const OWNER_WAITS_MAX: Duration = Duration::from_secs(2);
/// Of one question to one name server, which is asked twice.
const QUESTION_MAX: Duration = Duration::from_millis(1_500);
const QUESTIONS_MAX: usize = 2;
/// More addresses are vetted, and not tried: a connection would be tried to each of them in turn.
const ADDRESSES_MAX: usize = 8;

type Looking = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;
type LookUp = Arc<dyn Fn(String) -> Looking + Send + Sync>;

/// A name that no connection is made to.
#[derive(Debug, thiserror::Error)]
pub(super) enum NameError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("{0} cannot be resolved")]
    Unknown(String),
}

/// Looks names up, and vets what they lead to.
#[derive(Clone)]
pub(crate) struct Names {
    policy: Policy,
    look_up: LookUp,
}

impl Names {
    /// Asks the name servers, or those of `/etc/resolv.conf` where there are none.
    ///
    /// # Errors
    /// When `/etc/resolv.conf` is needed and cannot be read.
    pub(crate) fn asking(servers: &NameServers, policy: Policy) -> Result<Self, NetError> {
        let resolver = resolver(servers)?;
        Ok(Self::new(policy, move |name| {
            let resolver = resolver.clone();
            async move {
                // As it stands: a search list would lead to names that nobody wrote.
                let mut name = DnsName::from_utf8(&name).map_err(io::Error::other)?;
                name.set_fqdn(true);
                let found = resolver.lookup_ip(name).await.map_err(io::Error::other)?;
                Ok(found.iter().collect())
            }
        }))
    }

    fn new<F>(policy: Policy, look_up: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        Self { policy, look_up: Arc::new(move |name| Box::pin(look_up(name))) }
    }

    /// Checks what the URL shows by itself; its host is vetted when it is connected to.
    ///
    /// # Errors
    /// When the URL must not be called.
    pub(crate) fn vet_url(&self, url: &Url) -> Result<(), Refused> {
        self.policy.vet_url(url)
    }

    /// Checks where the URL leads at this moment. A name that cannot be resolved now passes: it may be set up later,
    /// and is vetted whenever it is called.
    ///
    /// # Errors
    /// When the URL must not be called.
    pub(crate) async fn vet_target(&self, url: &Url) -> Result<(), Refused> {
        self.vet_url(url)?;
        let Some(Host::Domain(name)) = url.host() else { return Ok(()) };
        match tokio::time::timeout(OWNER_WAITS_MAX, self.addresses(name)).await {
            // Time is up: no answer, as when there is no such name.
            Ok(Ok(_) | Err(NameError::Unknown(_))) | Err(_) => Ok(()),
            Ok(Err(NameError::Refused(refused))) => Err(refused),
        }
    }

    /// Where a URL leads that may be called.
    pub(super) async fn sockets(&self, url: &Url) -> Result<Vec<SocketAddr>, NameError> {
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

    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, NameError> {
        let unknown = || NameError::Unknown(name.to_owned());
        // No name server is asked for this machine: what it says of it would be as good as any other address.
        let mut addresses = match self.policy.local_addresses(name) {
            Some(addresses) => addresses?,
            None => tokio::time::timeout(LOOK_UP_MAX, (self.look_up)(name.to_owned()))
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

/// Both kinds of addresses are always asked for, and nothing is kept: what counts is what a name leads to now.
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
    options.timeout = QUESTION_MAX;
    options.attempts = QUESTIONS_MAX;
    builder.build()
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let names = self.clone();
        Box::pin(async move {
            let addresses = names.addresses(name.as_str()).await?;
            let addresses: Addrs = Box::new(addresses.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Names as a hostile name server would answer for them.
    pub(in crate::sender) fn hostile(policy: Policy) -> Names {
        let lookups = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        Names::new(policy, move |name| {
            let lookup = lookups.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let addresses: &[&str] = match name.as_str() {
                "public.example" => &["1.1.1.1", "2606:4700::1111"],
                "loopback.example" => &["127.0.0.1"],
                "mapped.example" => &["::ffff:127.0.0.1"],
                "metadata.example" => &["169.254.169.254"],
                "mixed.example" => &["1.1.1.1", "10.0.0.1"],
                "v6.example" => &["fd00::1"],
                "nat64.example" => &["64:ff9b::a9fe:a9fe"],
                // First a public address, for whoever checks; then a private one, for whoever calls.
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
    async fn names_that_lead_inside_are_refused() {
        let names = hostile(Policy::default());
        for host in [
            "loopback.example",
            "mapped.example",
            "metadata.example",
            "mixed.example",
            "v6.example",
            "nat64.example",
        ] {
            let refused = Err(Refused::NotPublic { host: host.to_owned() });
            assert_eq!(names.vet_target(&url(host)).await, refused, "{host}");
            let error = names.resolve(host.parse().unwrap()).await.err().unwrap();
            assert!(matches!(error.downcast_ref(), Some(NameError::Refused(_))), "{host}");
        }
    }

    #[tokio::test]
    async fn others_pass_even_if_they_are_not_set_up_yet() {
        let names = hostile(Policy::default());
        for host in ["public.example", "nowhere.example", "empty.example", "1.1.1.1"] {
            assert_eq!(names.vet_target(&url(host)).await, Ok(()), "{host}");
        }
        let error = names.resolve("empty.example".parse().unwrap()).await.err().unwrap();
        assert!(matches!(error.downcast_ref(), Some(NameError::Unknown(_))));
    }

    #[tokio::test]
    async fn a_name_that_changes_its_mind_is_refused_when_it_is_called() {
        let names = hostile(Policy::default());
        assert_eq!(names.vet_target(&url("rebinding.example")).await, Ok(()));
        let error = names.resolve("rebinding.example".parse().unwrap()).await.err().unwrap();
        assert!(matches!(error.downcast_ref(), Some(NameError::Refused(_))));
    }
}
