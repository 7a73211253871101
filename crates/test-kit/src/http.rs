//! HTTP between a test, the program under test and its fake peers.

use std::net::SocketAddr;

use actix_web::web::ServiceConfig;
use actix_web::{App, HttpServer};
use url::Url;

/// Calls the given address directly: without proxies and without the system's certificates.
pub fn client() -> reqwest::Client {
    // Another caller in the process may have installed it.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client")
}

pub fn url(address: SocketAddr) -> Url {
    Url::parse(&format!("http://{address}/")).expect("a URL")
}

/// Whether the service behind this management listener is ready.
pub async fn is_ready(management: &Url) -> bool {
    let ready = management.join("health/ready").expect("a path");
    client().get(ready).send().await.is_ok_and(|answer| answer.status().is_success())
}

/// Serves a fake peer on a free port until the test's runtime ends. A panic in a handler cannot fail the test: record
/// what is wrong, and check it in the test.
pub fn serve(routes: impl Fn(&mut ServiceConfig) + Clone + Send + 'static) -> SocketAddr {
    let server = HttpServer::new(move || App::new().configure(&routes))
        .workers(1)
        .disable_signals()
        .bind("127.0.0.1:0")
        .expect("a port");
    let address = server.addrs()[0];
    tokio::spawn(server.run());
    address
}
