//! The HTTP client for identity providers. Bounds the time and the size of each response, and follows no redirects.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use openidconnect::http::Response;
use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use outbound::{ResolveError, TargetRefused, VettingResolver};
use reqwest::ClientBuilder;
use tokio::sync::Semaphore;
use url::Url;

use super::budget::Budget;

/// For connecting, sending and reading the response.
const DEADLINE: Duration = Duration::from_secs(4);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Larger than any metadata, key set or token response.
const ANSWER_MAX_BYTES: usize = 256 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("{0}")]
    Refused(#[from] TargetRefused),
    #[error("the host {0} is unknown")]
    UnknownHost(String),
    #[error("the provider has not responded within {} seconds", DEADLINE.as_secs())]
    Timeout,
    #[error("the provider cannot be reached, or its TLS certificate is not valid")]
    NoConnection,
    #[error("the provider's response broke off: {0}")]
    BrokeOff(reqwest::Error),
    #[error("the provider answered {0}")]
    Status(u16),
    #[error("the provider's response has more than {ANSWER_MAX_BYTES} bytes")]
    TooLarge,
    #[error("too many calls of the provider")]
    TooMany,
    #[error("the provider's response cannot be read: {0}")]
    Malformed(#[from] openidconnect::http::Error),
}

#[derive(Clone)]
pub struct ProviderHttp {
    client: reqwest::Client,
    /// `None` for the provider that the operator has chosen.
    guard: Option<Guard>,
}

/// What limits the calls of a provider that a stranger has chosen.
#[derive(Clone)]
struct Guard {
    resolver: VettingResolver,
    /// Of all businesses at once.
    slots: Arc<Semaphore>,
    budget: Arc<Budget>,
}

impl ProviderHttp {
    /// For the provider that the operator has chosen.
    ///
    /// # Errors
    /// When the client cannot be built. A restart does not fix that.
    pub fn of_operator(allow_plain_http: bool) -> anyhow::Result<Self> {
        Ok(Self { client: builder().https_only(!allow_plain_http).build()?, guard: None })
    }

    /// For providers that strangers have chosen: a client that all businesses share, and that keeps no connection.
    ///
    /// # Errors
    /// When the client cannot be built.
    pub fn client_of_strangers(resolver: &VettingResolver) -> anyhow::Result<reqwest::Client> {
        // Each connection is vetted.
        let builder = builder().dns_resolver(Arc::new(resolver.clone())).pool_max_idle_per_host(0);
        Ok(builder.build()?)
    }

    pub fn of_stranger(
        client: reqwest::Client,
        resolver: VettingResolver,
        slots: Arc<Semaphore>,
        budget: Arc<Budget>,
    ) -> Self {
        Self { client, guard: Some(Guard { resolver, slots, budget }) }
    }

    /// Whether the operator has chosen the provider, and can fix its settings.
    pub(super) fn is_of_operator(&self) -> bool {
        self.guard.is_none()
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let request = reqwest::Request::try_from(request).map_err(http_error)?;
        let _slot = match &self.guard {
            Some(guard) => Some(guard.admit(request.url())?),
            None => None,
        };
        let mut response = self.client.execute(request).await.map_err(http_error)?;
        let status = response.status();
        if status.is_server_error() || status.as_u16() == 429 {
            return Err(HttpError::Status(status.as_u16()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(http_error)? {
            if body.len() + chunk.len() > ANSWER_MAX_BYTES {
                return Err(HttpError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        let mut builder = Response::builder().status(status);
        for (name, value) in response.headers() {
            builder = builder.header(name, value);
        }
        Ok(builder.body(body)?)
    }
}

impl Guard {
    /// The client does not resolve hosts that are addresses, so the URL is vetted too.
    fn admit(&self, url: &Url) -> Result<tokio::sync::SemaphorePermit<'_>, HttpError> {
        self.resolver.vet_url(url)?;
        if !self.budget.take() {
            return Err(HttpError::TooMany);
        }
        self.slots.try_acquire().map_err(|_| HttpError::TooMany)
    }
}

fn builder() -> ClientBuilder {
    // Another part of the process may have installed a provider, which is fine.
    let _already_installed = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .timeout(DEADLINE)
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .no_proxy()
}

/// Without the URL, which may contain credentials.
fn http_error(error: reqwest::Error) -> HttpError {
    match resolve_error(&error) {
        Some(ResolveError::Refused(refused)) => return refused.clone().into(),
        Some(ResolveError::Unknown(name)) => return HttpError::UnknownHost(name.clone()),
        None => {}
    }
    match () {
        () if error.is_timeout() => HttpError::Timeout,
        () if error.is_connect() => HttpError::NoConnection,
        () => HttpError::BrokeOff(error.without_url()),
    }
}

/// `source` does not return the error inside an `io::Error`.
fn resolve_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a ResolveError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        let carried = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = carried.and_then(|carried| resolve_error(carried)) {
            return Some(found);
        }
        next = error.source();
    }
    None
}

impl<'c> AsyncHttpClient<'c> for ProviderHttp {
    type Error = HttpError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use domain::Clock;
    use outbound::Policy;

    use super::*;

    fn stranger(policy: Policy) -> ProviderHttp {
        let resolver = VettingResolver::with_lookup(policy, |name| {
            let addresses: &[&str] = match name.as_str() {
                "loopback.example" => &["127.0.0.1"],
                "mapped.example" => &["::ffff:127.0.0.1"],
                "metadata.example" => &["169.254.169.254"],
                "mixed.example" => &["1.1.1.1", "10.0.0.1"],
                "v6.example" => &["fd00::1"],
                _ => return std::future::ready(Err(io::ErrorKind::NotFound.into())),
            };
            std::future::ready(Ok(addresses.iter().filter_map(|text| text.parse().ok()).collect()))
        });
        let client = ProviderHttp::client_of_strangers(&resolver).unwrap();
        let clock = Clock::manual(DateTime::UNIX_EPOCH);
        ProviderHttp::of_stranger(client, resolver, Arc::new(Semaphore::new(1)), Arc::new(Budget::new(clock)))
    }

    async fn get(http: &ProviderHttp, url: &str) -> Result<HttpResponse, HttpError> {
        let request = openidconnect::http::Request::builder().uri(url).body(Vec::new()).unwrap();
        http.send(request).await
    }

    #[tokio::test]
    async fn providers_of_strangers_are_called_at_public_addresses_only() {
        let http = stranger(Policy::default());
        for url in [
            "https://loopback.example/",
            "https://mapped.example/",
            "https://metadata.example/",
            "https://mixed.example/",
            "https://v6.example/",
            "https://localhost/",
            "https://a.localhost/",
            "https://127.0.0.1/",
            "https://0x7f.1/",
            "https://2130706433/",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:a9fe:a9fe]/",
            "https://169.254.169.254/latest/meta-data/",
            "https://10.0.0.1/",
            "https://[fe80::1]/",
        ] {
            let refused = get(&http, url).await;
            assert!(
                matches!(refused, Err(HttpError::Refused(TargetRefused::NotPublic { .. }))),
                "{url}: {refused:?}"
            );
        }
        let plain = get(&http, "http://1.1.1.1/").await;
        assert!(matches!(plain, Err(HttpError::Refused(TargetRefused::PlainHttp))), "{plain:?}");
        let unknown = get(&http, "https://nowhere.example/").await;
        assert!(matches!(unknown, Err(HttpError::UnknownHost(_))), "{unknown:?}");
    }

    #[tokio::test]
    async fn calls_are_bounded_for_all_businesses_together() {
        let http = stranger(Policy::default());
        let _taken = http.guard.as_ref().unwrap().slots.clone().try_acquire_owned().unwrap();
        let refused = get(&http, "https://nowhere.example/").await;
        assert!(matches!(refused, Err(HttpError::TooMany)), "{refused:?}");
    }
}
