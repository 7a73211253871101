//! One HTTP exchange with an endpoint: no proxy, no redirects, one deadline for all of it, a bounded response.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use outbound::VettingResolver;
use reqwest::header::HeaderMap;
use reqwest::{Client, Response};
use settings::Brand;
use tokio::net::TcpStream;
use url::Url;

use super::failures::{failure_of_error, failure_of_status};
use super::headers::user_agent;
use crate::domain::Failure;

/// Reading stops here. The status of a longer response counts nevertheless.
const READ_MAX_BYTES: usize = 64 * 1024;
/// How much of a response is stored.
const KEPT_MAX_BYTES: usize = 16 * 1024;
/// Shorter than the deadline of the exchange: an unreachable host is detected sooner.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// For the probe that tells an unreachable port from a slow TLS handshake.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// Shorter than the keep-alive time of common servers: webhooks seldom meet a connection that is being closed.
const POOL_IDLE: Duration = Duration::from_secs(4);

/// The HTTP client for webhooks.
#[derive(Clone)]
pub(super) struct Exchange {
    http: Client,
    resolver: VettingResolver,
    deadline: Duration,
}

/// The response as far as it arrived.
#[derive(Debug, Default)]
pub(super) struct Received {
    pub status: Option<u16>,
    pub headers: HeaderMap,
    /// The first 16 KiB.
    pub body: Vec<u8>,
}

impl Exchange {
    /// # Errors
    /// When no TLS client can be made, for instance without root certificates.
    pub(super) fn new(
        resolver: VettingResolver,
        brand: &Brand,
        deadline: Duration,
        per_endpoint: usize,
    ) -> reqwest::Result<Self> {
        // Fails if another part of the process has installed a provider, which is fine.
        let _already_installed = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .dns_resolver(Arc::new(resolver.clone()))
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(per_endpoint)
            .tcp_nodelay(true)
            .user_agent(user_agent(brand))
            .build()?;
        Ok(Self { http, resolver, deadline })
    }

    /// Sends the body. Returns the response and, unless the webhook was received, the failure.
    pub(super) async fn post(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> (Received, Option<Failure>) {
        let mut received = Received::default();
        let exchange = self.exchange(url, headers, body, &mut received);
        let failure = match tokio::time::timeout(self.deadline, exchange).await {
            Ok(Ok(())) => received.status.and_then(failure_of_status),
            Ok(Err(failure)) => Some(failure),
            Err(_) => Some(Failure::Timeout(self.deadline)),
        };
        (received, failure)
    }

    async fn exchange(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Vec<u8>,
        received: &mut Received,
    ) -> Result<(), Failure> {
        let url = Url::parse(url).map_err(|error| Failure::UnusableUrl(error.to_string()))?;
        // reqwest does not resolve hosts that are addresses.
        self.resolver.vet_url(&url)?;
        let request = self.http.post(url).headers(headers).body(body);
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                let failure = failure_of_error(&error, self.deadline);
                return Err(self.probe(&error, failure).await);
            }
        };
        received.status = Some(response.status().as_u16());
        received.headers = response.headers().clone();
        self.read(response, received).await
    }

    /// reqwest has one timeout for the connection and the TLS handshake. Tells which of the two took too long.
    async fn probe(&self, error: &reqwest::Error, failure: Failure) -> Failure {
        let Some(url) = error.url().filter(|_| failure == Failure::HandshakeTimeout) else { return failure };
        let Ok(addresses) = self.resolver.sockets(url).await else { return failure };
        match tokio::time::timeout(PROBE_TIMEOUT, TcpStream::connect(&addresses[..])).await {
            Ok(Ok(_)) => failure,
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => Failure::ConnectionRefused,
            Ok(Err(_)) | Err(_) => Failure::Unreachable,
        }
    }

    async fn read(&self, mut response: Response, received: &mut Received) -> Result<(), Failure> {
        let mut read = 0;
        while let Some(chunk) =
            response.chunk().await.map_err(|error| failure_of_error(&error, self.deadline))?
        {
            let kept = chunk.len().min(KEPT_MAX_BYTES - received.body.len());
            received.body.extend_from_slice(&chunk[..kept]);
            read += chunk.len();
            if read > READ_MAX_BYTES {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use outbound::{Policy, TargetRefused};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Resolves names to private addresses, as a hostile name server would.
    fn hostile(policy: Policy) -> VettingResolver {
        VettingResolver::with_lookup(policy, |name| {
            let addresses: &[&str] = match name.as_str() {
                "loopback.example" => &["127.0.0.1"],
                "metadata.example" => &["169.254.169.254"],
                "mixed.example" => &["1.1.1.1", "10.0.0.1"],
                _ => return std::future::ready(Err(io::ErrorKind::NotFound.into())),
            };
            std::future::ready(Ok(addresses.iter().filter_map(|text| text.parse().ok()).collect()))
        })
    }

    /// Responds to every connection with these bytes and closes it; without bytes, it keeps the connection open.
    async fn server(bytes: Option<Vec<u8>>) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let mut silent = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(bytes) = &bytes else {
                    silent.push(stream);
                    continue;
                };
                let mut request = [0; 4_096];
                let _read = stream.read(&mut request).await.unwrap();
                // The client may have closed the connection.
                let _gone = stream.write_all(bytes).await;
                let _gone = stream.shutdown().await;
            }
        });
        port
    }

    /// The failure that a server with this response causes.
    async fn failure(scheme: &str, bytes: Option<Vec<u8>>) -> Failure {
        failure_at(scheme, server(bytes).await).await
    }

    async fn failure_at(scheme: &str, port: u16) -> Failure {
        let policy = Policy { allow_http: true, allowed_ranges: "127.0.0.0/8".parse().unwrap() };
        let resolver = hostile(policy);
        let exchange = Exchange::new(resolver, &Brand::default(), Duration::from_secs(20), 1).unwrap();
        let url = format!("{scheme}://127.0.0.1:{port}/hook");
        let (_, failure) = exchange.post(&url, HeaderMap::new(), b"{}".to_vec()).await;
        failure.expect("a failure")
    }

    #[tokio::test]
    async fn failures_are_distinguished() {
        let head = |headers: String| Some(format!("HTTP/1.1 200 OK\r\n{headers}\r\n").into_bytes());
        let many: String = (0..150).map(|n| format!("x-{n}: 1\r\n")).collect();
        let closed = Failure::Tls("the server closed the connection during the handshake".into());
        for (scheme, bytes, expected) in [
            ("http", head(many), Failure::HeadTooLarge),
            ("http", head(format!("x: {}\r\n", "a".repeat(600_000))), Failure::HeadTooLarge),
            ("http", Some(b"hello\r\n\r\n".to_vec()), Failure::NotHttp),
            ("http", Some(Vec::new()), Failure::ConnectionClosed),
            ("http", Some(b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec()), Failure::Status(304)),
            ("https", Some(Vec::new()), closed),
            ("https", None, Failure::HandshakeTimeout),
        ] {
            assert_eq!(failure(scheme, bytes).await, expected, "{scheme}");
        }
        // A closed port is not a failed handshake.
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        assert_eq!(failure_at("https", free).await, Failure::ConnectionRefused);
        let Failure::Tls(message) =
            failure("https", Some(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())).await
        else {
            panic!("not a TLS failure")
        };
        assert!(message.contains("does not speak TLS"), "{message}");
    }

    /// A full accept queue drops packets as a firewall does.
    #[tokio::test]
    async fn an_unreachable_port_is_not_a_failed_handshake() {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let full = socket.listen(1).unwrap();
        let address = full.local_addr().unwrap();
        let mut waiting = Vec::new();
        let patience = Duration::from_millis(500);
        while let Ok(taken) = tokio::time::timeout(patience, TcpStream::connect(address)).await {
            waiting.push(taken.unwrap());
            assert!(waiting.len() < 100, "the queue does not fill");
        }
        assert_eq!(failure_at("https", address.port()).await, Failure::Unreachable);
    }

    /// Names are refused at the connection, addresses before it.
    #[tokio::test]
    async fn nothing_is_sent_to_private_addresses() {
        let policy = Policy { allow_http: true, ..Policy::default() };
        let exchange = Exchange::new(hostile(policy), &Brand::default(), Duration::from_secs(2), 1).unwrap();
        for host in ["loopback.example", "mixed.example", "metadata.example", "127.0.0.1", "0x7f.1"] {
            let url = format!("http://{host}:9/hook");
            let (received, failure) = exchange.post(&url, HeaderMap::new(), Vec::new()).await;
            assert_eq!(received.status, None, "{host}");
            let refused = matches!(failure, Some(Failure::Refused(TargetRefused::NotPublic { .. })));
            assert!(refused, "{host}: {failure:?}");
        }
        let (_, failure) = exchange.post("http://nowhere.example/", HeaderMap::new(), Vec::new()).await;
        assert_eq!(failure, Some(Failure::UnknownName("nowhere.example".into())));
    }
}
