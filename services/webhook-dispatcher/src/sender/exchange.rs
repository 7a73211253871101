//! One HTTP exchange with an endpoint: no proxy, no redirects, one deadline over all of it, a bounded answer.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Client, Response};
use settings::Brand;
use tokio::net::TcpStream;
use url::Url;

use super::answer::{failure_of_error, failure_of_status};
use super::names::Names;
use super::signed::user_agent;
use crate::domain::Failure;

/// No more of an answer is read. One that goes on longer has been cut off, and its status counts all the same.
const READ_MAX_BYTES: usize = 64 * 1024;
/// No more of an answer is kept.
const KEPT_MAX_BYTES: usize = 16 * 1024;
/// Part of the whole exchange's time; a host that does not even take connections is found out sooner.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// For one more connection, which shows whether the port or its TLS let the time pass.
const SECOND_LOOK: Duration = Duration::from_secs(2);
/// Shorter than what common servers keep idle connections for, so that a webhook is seldom sent into one that is just
/// being closed.
const POOL_IDLE: Duration = Duration::from_secs(4);

/// The HTTP client for webhooks.
#[derive(Clone)]
pub(crate) struct Exchange {
    http: Client,
    names: Names,
    deadline: Duration,
}

/// What was seen of an answer, also when it broke off.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub status: Option<u16>,
    pub headers: HeaderMap,
    /// The first 16 KiB.
    pub body: Vec<u8>,
}

impl Exchange {
    /// # Errors
    /// When no TLS client can be made, for want of root certificates for instance.
    pub(crate) fn new(
        names: Names,
        brand: &Brand,
        deadline: Duration,
        per_endpoint: usize,
    ) -> reqwest::Result<Self> {
        // Another part of the process may have installed a provider already, which serves as well.
        let _already_installed = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .dns_resolver(Arc::new(names.clone()))
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(per_endpoint)
            .tcp_nodelay(true)
            .user_agent(user_agent(brand))
            .build()?;
        Ok(Self { http, names, deadline })
    }

    /// Sends the body, and tells what was seen and, unless it was received, what went wrong.
    pub(crate) async fn post(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> (Answer, Option<Failure>) {
        let mut answer = Answer::default();
        let exchange = self.exchange(url, headers, body, &mut answer);
        let failure = match tokio::time::timeout(self.deadline, exchange).await {
            Ok(Ok(())) => answer.status.and_then(failure_of_status),
            Ok(Err(failure)) => Some(failure),
            Err(_) => Some(Failure::Timeout(self.deadline)),
        };
        (answer, failure)
    }

    async fn exchange(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        let url = Url::parse(url).map_err(|error| Failure::UnusableUrl(error.to_string()))?;
        // A host that is an address never reaches the resolver.
        self.names.vet_url(&url)?;
        let request = self.http.post(url).headers(headers).body(body);
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                let failure = failure_of_error(&error, self.deadline);
                return Err(self.look_again(&error, failure).await);
            }
        };
        answer.status = Some(response.status().as_u16());
        answer.headers = response.headers().clone();
        self.read(response, answer).await
    }

    /// The client allows one time for the connection and the handshake, and does not tell which of the two took it.
    async fn look_again(&self, error: &reqwest::Error, failure: Failure) -> Failure {
        let Some(url) = error.url().filter(|_| failure == Failure::HandshakeTimeout) else { return failure };
        let Ok(addresses) = self.names.sockets(url).await else { return failure };
        match tokio::time::timeout(SECOND_LOOK, TcpStream::connect(&addresses[..])).await {
            Ok(Ok(_)) => failure,
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => Failure::ConnectionRefused,
            Ok(Err(_)) | Err(_) => Failure::Unreachable,
        }
    }

    async fn read(&self, mut response: Response, answer: &mut Answer) -> Result<(), Failure> {
        let mut read = 0;
        while let Some(chunk) =
            response.chunk().await.map_err(|error| failure_of_error(&error, self.deadline))?
        {
            let kept = chunk.len().min(KEPT_MAX_BYTES - answer.body.len());
            answer.body.extend_from_slice(&chunk[..kept]);
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
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::domain::{Policy, Refused};
    use crate::sender::names::tests::hostile;

    /// Answers every connection with these bytes and closes it; with none, it keeps silent and the connection open.
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
                // Who has seen enough may be gone already.
                let _gone = stream.write_all(bytes).await;
                let _gone = stream.shutdown().await;
            }
        });
        port
    }

    /// What is told of a server that answers so.
    async fn failure(scheme: &str, bytes: Option<Vec<u8>>) -> Failure {
        failure_at(scheme, server(bytes).await).await
    }

    async fn failure_at(scheme: &str, port: u16) -> Failure {
        let policy = Policy { allow_http: true, allowed_ranges: "127.0.0.0/8".parse().unwrap() };
        let names = hostile(policy);
        let exchange = Exchange::new(names, &Brand::default(), Duration::from_secs(20), 1).unwrap();
        let url = format!("{scheme}://127.0.0.1:{port}/hook");
        let (_, failure) = exchange.post(&url, HeaderMap::new(), b"{}".to_vec()).await;
        failure.expect("it is no good answer")
    }

    #[tokio::test]
    async fn what_went_wrong_is_told() {
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
        // A port where nothing listens is no failed handshake.
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        assert_eq!(failure_at("https", free).await, Failure::ConnectionRefused);
        let Failure::Tls(told) = failure("https", Some(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())).await
        else {
            panic!("no failure of TLS")
        };
        assert!(told.contains("does not speak TLS"), "{told}");
    }

    /// A port behind a firewall lets every packet vanish; a full queue does the same.
    #[tokio::test]
    async fn a_port_that_takes_no_connections_is_no_failed_handshake() {
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

    /// Names are refused at the moment of the connection, literals before it.
    #[tokio::test]
    async fn nothing_is_sent_to_where_it_must_not_go() {
        let policy = Policy { allow_http: true, ..Policy::default() };
        let exchange = Exchange::new(hostile(policy), &Brand::default(), Duration::from_secs(2), 1).unwrap();
        for host in ["loopback.example", "mixed.example", "metadata.example", "127.0.0.1", "0x7f.1"] {
            let url = format!("http://{host}:9/hook");
            let (answer, failure) = exchange.post(&url, HeaderMap::new(), Vec::new()).await;
            assert_eq!(answer.status, None, "{host}");
            let refused = matches!(failure, Some(Failure::Refused(Refused::NotPublic { .. })));
            assert!(refused, "{host}: {failure:?}");
        }
        let (_, failure) = exchange.post("http://nowhere.example/", HeaderMap::new(), Vec::new()).await;
        assert_eq!(failure, Some(Failure::UnknownName("nowhere.example".into())));
    }
}
