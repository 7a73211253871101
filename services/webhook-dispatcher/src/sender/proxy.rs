//! The operator's proxy, and connections through it. It is asked to connect to an address that was vetted, never to a name,
//! which it could resolve to another address.

use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use hyper::{Request, StatusCode, upgrade};
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use settings::Secret;
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

use crate::domain::ProxyFault;

/// For the connection to the proxy. The caller limits the time until the proxy answers.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Of the proxy's answer.
const HEAD_MAX_BYTES: usize = 16 * 1024;

/// An HTTP proxy that opens connections by `CONNECT`.
#[derive(Clone, Debug)]
pub(crate) struct ProxyAddress {
    pub host: String,
    pub port: u16,
    /// The value of `Proxy-Authorization`.
    pub authorization: Option<Secret>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be http://host:port or http://user:password@host:port")]
pub(crate) struct InvalidProxy;

impl ProxyAddress {
    /// # Errors
    /// When the text is not such an address. The error does not contain it.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidProxy> {
        let url = Url::parse(text.trim()).map_err(|_| InvalidProxy)?;
        let is_plain = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let host = url.host_str().filter(|host| !host.is_empty() && is_plain && url.scheme() == "http");
        let port = url.port_or_known_default().filter(|port| *port != 0);
        let (Some(host), Some(port)) = (host, port) else { return Err(InvalidProxy) };
        Ok(Self { host: host.trim_matches(['[', ']']).to_owned(), port, authorization: authorization(&url)? })
    }
}

/// Basic authentication (RFC 7617).
fn authorization(url: &Url) -> Result<Option<Secret>, InvalidProxy> {
    let (user, password) = (url.username(), url.password().unwrap_or_default());
    if user.is_empty() && password.is_empty() {
        return Ok(None);
    }
    let decoded = |text| percent_decode_str(text).decode_utf8().map_err(|_| InvalidProxy);
    let (user, password) = (decoded(user)?, decoded(password)?);
    // A colon ends the user's name.
    if user.contains(':') {
        return Err(InvalidProxy);
    }
    let encoded = BASE64_STANDARD.encode(format!("{user}:{password}"));
    Ok(Some(Secret::new(format!("Basic {encoded}"))))
}

/// Tries one address after the other, because the proxy may reach one address family only.
pub(super) async fn tunnel_to_any(
    proxy: &ProxyAddress,
    mut vetted: Vec<SocketAddr>,
) -> Result<TokioIo<TcpStream>, ProxyFault> {
    vetted.sort_by_key(SocketAddr::is_ipv6);
    let mut last = ProxyFault::Broken;
    for address in vetted {
        match tunnel(proxy, address).await {
            Err(fault) if fault.is_of_target() => last = fault,
            outcome => return outcome,
        }
    }
    Err(last)
}

async fn tunnel(proxy: &ProxyAddress, to: SocketAddr) -> Result<TokioIo<TcpStream>, ProxyFault> {
    let tcp = timeout(CONNECT_TIMEOUT, TcpStream::connect((proxy.host.as_str(), proxy.port))).await;
    let tcp = tcp.unwrap_or_else(|late| Err(late.into())).map_err(|e| ProxyFault::Unreachable(e.kind()))?;
    tcp.set_nodelay(true).map_err(|_| ProxyFault::Broken)?;
    let request = request(proxy, to).map_err(|_| ProxyFault::Broken)?;
    let opened = http1::Builder::new().max_buf_size(HEAD_MAX_BYTES).handshake(TokioIo::new(tcp)).await;
    let (mut requests, connection) = opened.map_err(|_| ProxyFault::Broken)?;
    let exchange = async {
        let answer = requests.send_request(request).await.map_err(|_| ProxyFault::Broken)?;
        match answer.status() {
            StatusCode::OK => upgrade::on(answer).await.map_err(|_| ProxyFault::Broken),
            other => Err(ProxyFault::Status(other.as_u16())),
        }
    };
    let connection = async { connection.with_upgrades().await.map_err(|_| ProxyFault::Broken) };
    let (upgraded, ()) = tokio::try_join!(exchange, connection)?;
    // An endpoint sends nothing before it has a request, so no byte has arrived after the proxy's answer.
    Ok(upgraded.downcast::<TokioIo<TcpStream>>().map_err(|_| ProxyFault::Broken)?.io)
}

fn request(proxy: &ProxyAddress, to: SocketAddr) -> hyper::http::Result<Request<String>> {
    let mut request = Request::connect(to.to_string()).header(HOST, to.to_string());
    if let Some(authorization) = &proxy.authorization {
        let mut value = HeaderValue::try_from(authorization.expose())?;
        value.set_sensitive(true);
        request = request.header(PROXY_AUTHORIZATION, value);
    }
    request.body(String::new())
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::io;

    use hyper::HeaderMap;
    use outbound::{Policy, VettingResolver};
    use test_kit::ConnectProxy;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::domain::Failure;
    use crate::sender::connector::Connector;
    use crate::sender::exchange::{Exchange, Received};

    /// Sends a webhook to this URL through the proxy. `shop.example` is this machine, which is allowed.
    async fn post(proxy: SocketAddr, url: &str) -> (Received, Option<Failure>) {
        let policy = Policy { allow_http: true, allowed_ranges: "127.0.0.0/8".parse().unwrap() };
        let resolver = VettingResolver::with_lookup(policy, |name| {
            let address = if name == "shop.example" { [127, 0, 0, 1] } else { [10, 0, 0, 1] };
            ready(Ok(vec![address.into()]))
        });
        let proxy = ProxyAddress::parse(&format!("http://user:password@{proxy}")).unwrap();
        let connector = Connector::new(resolver, Some(proxy)).unwrap();
        let exchange = Exchange::new(connector, Duration::from_secs(20), 1);
        exchange.post(url, HeaderMap::new(), b"{}".to_vec()).await
    }

    /// Answers one connection with these bytes, and returns what it received first.
    async fn server(answer: &'static [u8]) -> (SocketAddr, tokio::task::JoinHandle<Vec<u8>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut received = vec![0; 4_096];
            let length = stream.read(&mut received).await.unwrap();
            received.truncate(length);
            // The client may have closed the connection.
            let _gone = stream.write_all(answer).await;
            received
        });
        (address, served)
    }

    #[test]
    fn an_address_may_have_credentials() {
        for (text, host, port, authorization) in [
            ("http://proxy.example:3128", "proxy.example", 3128, None),
            ("http://[fd00::1]:3128/", "fd00::1", 3128, None),
            ("http://proxy.example", "proxy.example", 80, None),
            ("http://user:p%40ss@10.0.0.9:8080\n", "10.0.0.9", 8080, Some("Basic dXNlcjpwQHNz")),
        ] {
            let proxy = ProxyAddress::parse(text).unwrap();
            assert_eq!((proxy.host.as_str(), proxy.port), (host, port), "{text}");
            assert_eq!(proxy.authorization.as_ref().map(Secret::expose), authorization, "{text}");
        }
        for bad in [
            "proxy.example:3128",
            "https://proxy.example:3128",
            "socks5://proxy.example:1080",
            "http://proxy.example:0",
            "http://proxy.example:3128/path",
            "http://proxy.example:3128?a",
            "http://a%3Ab:c@proxy.example:3128",
        ] {
            assert_eq!(ProxyAddress::parse(bad).err(), Some(InvalidProxy), "{bad}");
        }
    }
    #[tokio::test]
    async fn the_proxy_gets_the_vetted_address_and_the_endpoint_its_name() {
        for (scheme, name) in [("http", "host: shop.example"), ("https", "shop.example")] {
            let (proxy, (endpoint, served)) =
                (ConnectProxy::start().await, server(b"HTTP/1.1 204 No Content\r\n\r\n").await);
            let (received, _) =
                post(proxy.address, &format!("{scheme}://shop.example:{}/hook", endpoint.port())).await;
            assert_eq!(received.status, (scheme == "http").then_some(204), "the test has no certificate");
            let (first, heads) = (served.await.unwrap(), proxy.heads());
            // Also TLS begins with the name in clear text.
            assert!(String::from_utf8_lossy(&first).contains(name), "{scheme}");
            let [head] = heads.as_slice() else { panic!("{heads:?}") };
            assert!(head.starts_with(&format!("CONNECT {endpoint} HTTP/1.1\r\n")), "{head}");
            assert!(head.contains("Basic dXNlcjpwYXNzd29yZA==") && !head.contains("shop.example"), "{head}");
        }
    }

    #[tokio::test]
    async fn a_forbidden_address_is_refused_before_the_proxy_is_asked() {
        let proxy = ConnectProxy::start().await;
        for host in ["intranet.example", "10.0.0.1"] {
            let (_, failure) = post(proxy.address, &format!("http://{host}/hook")).await;
            assert!(matches!(failure, Some(Failure::Refused(_))), "{host}: {failure:?}");
        }
        assert_eq!(proxy.heads(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn faults_of_the_proxy_are_failures_of_their_own() {
        let endless = [&b"HTTP/1.1 200 OK\r\nx: "[..], &[b'a'; 20_000]].concat().leak();
        for (answer, fault) in [
            (
                &b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 9\r\n\r\n"[..],
                ProxyFault::Status(407),
            ),
            (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", ProxyFault::Status(502)),
            (b"SSH-2.0-OpenSSH_9.6\r\n", ProxyFault::Broken),
            (b"", ProxyFault::Broken),
            (endless, ProxyFault::Broken),
        ] {
            let (_, failure) = post(server(answer).await.0, "https://shop.example/hook").await;
            assert_eq!(failure, Some(Failure::Proxy(fault)));
        }
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let (_, failure) = post(closed, "https://shop.example/hook").await;
        assert_eq!(failure, Some(Failure::Proxy(ProxyFault::Unreachable(io::ErrorKind::ConnectionRefused))));
    }

    #[tokio::test]
    async fn a_silent_proxy_is_not_waited_for() {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (_, failure) = post(silent.local_addr().unwrap(), "https://shop.example/hook").await;
        assert_eq!(failure, Some(Failure::Proxy(ProxyFault::NoAnswer)));
    }
}
