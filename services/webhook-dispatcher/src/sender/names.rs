//! The vetting resolver: a name is looked up anew for every connection, and the connection is made to the very
//! addresses that were vetted, so that a name cannot lead to one place when it is checked and to another when it is
//! called.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::domain::{Policy, Refused};

/// How long an owner waits for the look-up while an endpoint is set up. When it is called, the limit of the whole attempt
/// holds.
const LOOK_UP_MAX: Duration = Duration::from_secs(2);

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
    /// With the operating system's resolver.
    pub(crate) fn of_system(policy: Policy) -> Self {
        Self::new(policy, |name| async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
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
        match tokio::time::timeout(LOOK_UP_MAX, self.addresses(name)).await {
            Ok(Ok(_)) | Ok(Err(NameError::Unknown(_))) | Err(_) => Ok(()),
            Ok(Err(NameError::Refused(refused))) => Err(refused),
        }
    }

    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, NameError> {
        let unknown = || NameError::Unknown(name.to_owned());
        let addresses = (self.look_up)(name.to_owned()).await.map_err(|_| unknown())?;
        if addresses.is_empty() {
            return Err(unknown());
        }
        self.policy.vet(name, &addresses)?;
        Ok(addresses)
    }
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
