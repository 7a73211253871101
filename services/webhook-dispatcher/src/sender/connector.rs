//! Opens connections to endpoints: to vetted addresses only, directly or through the operator's proxy.

use std::convert::Infallible;
use std::error::Error;
use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::http::uri::Scheme;
use hyper_rustls::MaybeHttpsStream;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioIo;
use outbound::{ResolveError, VettingResolver};
use rustls::pki_types::ServerName;
use tls::TlsError;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower::{Service, service_fn};
use url::Url;

use super::proxy::{ProxyAddress, tunnel_to_any};
use crate::domain::ProxyFault;

/// For the lookup and the connection, and again for the TLS handshake. Shorter than the deadline of the exchange: an
/// unreachable host is detected sooner.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub(super) struct Connector {
    resolver: VettingResolver,
    proxy: Option<Arc<ProxyAddress>>,
    tls: TlsConnector,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("no address may be called")]
    Resolve(#[from] ResolveError),
    #[error("no connection in time")]
    TimedOut,
    #[error("no connection")]
    Tcp(#[source] Box<dyn Error + Send + Sync>),
    #[error("no connection by the proxy")]
    Proxy(#[from] ProxyFault),
    #[error("no TLS handshake in time")]
    HandshakeTimedOut,
    #[error("no TLS handshake")]
    Tls(#[source] io::Error),
}

impl Connector {
    /// # Errors
    /// When the system has no root certificates.
    pub(super) fn new(resolver: VettingResolver, proxy: Option<ProxyAddress>) -> Result<Self, TlsError> {
        let tls = TlsConnector::from(Arc::new(tls::certified_by_system()?));
        Ok(Self { resolver, proxy: proxy.map(Arc::new), tls })
    }

    async fn connect(&self, uri: Uri) -> Result<MaybeHttpsStream<TokioIo<TcpStream>>, ConnectError> {
        let is_https = uri.scheme() == Some(&Scheme::HTTPS);
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let late = || match self.proxy {
            Some(_) => ProxyFault::NoAnswer.into(),
            None => ConnectError::TimedOut,
        };
        let tcp = timeout(CONNECT_TIMEOUT, self.open(uri)).await.unwrap_or_else(|_| Err(late()))?;
        if !is_https {
            return Ok(tcp.into());
        }
        let name = ServerName::try_from(host).map_err(|error| ConnectError::Tls(io::Error::other(error)))?;
        let handshake = timeout(CONNECT_TIMEOUT, self.tls.connect(name, TokioIo::new(tcp))).await;
        Ok(handshake.map_err(|_| ConnectError::HandshakeTimedOut)?.map_err(ConnectError::Tls)?.into())
    }

    async fn open(&self, uri: Uri) -> Result<TokioIo<TcpStream>, ConnectError> {
        let url = Url::parse(&uri.to_string()).map_err(|error| ConnectError::Tcp(error.into()))?;
        let addresses = self.resolver.sockets(&url).await?;
        match &self.proxy {
            Some(proxy) => Ok(tunnel_to_any(proxy, addresses).await?),
            None => open_directly(uri, addresses).await,
        }
    }
}

/// Tries both address families at once.
async fn open_directly(uri: Uri, vetted: Vec<SocketAddr>) -> Result<TokioIo<TcpStream>, ConnectError> {
    let resolve = service_fn(move |_: Name| ready(Ok::<_, Infallible>(vetted.clone().into_iter())));
    let mut tcp = HttpConnector::new_with_resolver(resolve);
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    tcp.call(uri).await.map_err(|error| ConnectError::Tcp(error.into()))
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ConnectError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { connector.connect(uri).await })
    }
}
