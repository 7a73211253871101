//! One HTTP exchange with an endpoint: no redirects, one deadline for all of it, a bounded response.

use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{HeaderMap, Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use url::Url;

use super::connector::Connector;
use super::failures::{failure_of_error, failure_of_status};
use crate::domain::Failure;

/// Reading stops here. The status of a longer response counts nevertheless.
const READ_MAX_BYTES: usize = 64 * 1024;
/// How much of a response is stored.
const KEPT_MAX_BYTES: usize = 16 * 1024;
/// Shorter than the keep-alive time of common servers: webhooks seldom meet a connection that is being closed.
const POOL_IDLE: Duration = Duration::from_secs(4);

/// The HTTP client for webhooks.
#[derive(Clone)]
pub(super) struct Exchange {
    http: Client<Connector, Full<Bytes>>,
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
    pub(super) fn new(connector: Connector, deadline: Duration, per_endpoint: usize) -> Self {
        let http = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(per_endpoint)
            .build(connector);
        Self { http, deadline }
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
        let request = Request::post(url.as_str()).body(Full::from(body));
        let mut request = request.map_err(|error| Failure::UnusableUrl(error.to_string()))?;
        *request.headers_mut() = headers;
        let response = self.http.request(request).await.map_err(|error| failure_of_error(&error))?;
        received.status = Some(response.status().as_u16());
        received.headers = response.headers().clone();
        read(response, received).await
    }
}

async fn read(mut response: Response<Incoming>, received: &mut Received) -> Result<(), Failure> {
    let mut read = 0;
    while let Some(frame) = response.frame().await {
        let frame = frame.map_err(|_| Failure::ConnectionClosed)?;
        let Ok(chunk) = frame.into_data() else { continue };
        let kept = chunk.len().min(KEPT_MAX_BYTES - received.body.len());
        received.body.extend_from_slice(&chunk[..kept]);
        read += chunk.len();
        if read > READ_MAX_BYTES {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io;

    use outbound::{Policy, TargetRefused, VettingResolver};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

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
        let connector = Connector::new(hostile(policy), None).unwrap();
        let exchange = Exchange::new(connector, Duration::from_secs(20), 1);
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
        let connector = Connector::new(hostile(policy), None).unwrap();
        let exchange = Exchange::new(connector, Duration::from_secs(2), 1);
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
