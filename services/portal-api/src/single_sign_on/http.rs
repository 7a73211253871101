//! The HTTP client for identity providers. Bounds the time and the size of each response, and follows no redirects.

use std::pin::Pin;
use std::time::Duration;

use openidconnect::http::Response;
use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};

/// For connecting, sending and reading the response.
const DEADLINE: Duration = Duration::from_secs(4);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Larger than any metadata, key set or token response.
const ANSWER_MAX_BYTES: usize = 256 * 1024;

#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("the provider cannot be reached: {0}")]
    Unreachable(#[from] reqwest::Error),
    #[error("the provider answered {0}")]
    Status(u16),
    #[error("the provider's response has more than {ANSWER_MAX_BYTES} bytes")]
    TooLarge,
    #[error("the provider's response cannot be read: {0}")]
    Malformed(#[from] openidconnect::http::Error),
}

#[derive(Clone, Debug)]
pub(super) struct ProviderHttp(reqwest::Client);

impl ProviderHttp {
    /// # Errors
    /// When the client cannot be built. A restart does not fix that.
    pub(super) fn new(allow_plain_http: bool) -> anyhow::Result<Self> {
        // Another part of the process may have installed a provider, which is fine.
        let _already_installed = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(DEADLINE)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .https_only(!allow_plain_http)
            .no_proxy()
            .build()?;
        Ok(Self(client))
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let request = reqwest::Request::try_from(request).map_err(without_url)?;
        let mut response = self.0.execute(request).await.map_err(without_url)?;
        let status = response.status();
        if status.is_server_error() || status.as_u16() == 429 {
            return Err(HttpError::Status(status.as_u16()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(without_url)? {
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

/// A URL may contain credentials.
fn without_url(error: reqwest::Error) -> HttpError {
    HttpError::Unreachable(error.without_url())
}

impl<'c> AsyncHttpClient<'c> for ProviderHttp {
    type Error = HttpError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}
