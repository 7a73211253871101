//! `health`: checks whether the instance on this machine is ready. For containers, which have no `curl`.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::SettingErrors;

/// The time limit for connecting and for each read.
const PATIENCE: Duration = Duration::from_secs(3);
/// `HTTP/1.1 200`
const STATUS_LINE_BYTES: usize = 12;

/// Only the management address, so that no secret is needed.
#[derive(Deserialize, Serialize, JsonSchema)]
struct HealthSettings {
    http: Management,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Management {
    #[schemars(example = "0.0.0.0:9090")]
    management: SocketAddr,
}

impl settings::Settings for HealthSettings {
    fn check(&self, _errors: &mut SettingErrors) {}
}

/// # Errors
/// When the instance is unreachable or not ready.
pub(crate) fn health() -> anyhow::Result<()> {
    let settings: HealthSettings = settings::load()?;
    ask(on_this_machine(settings.http.management))
}

fn ask(address: SocketAddr) -> anyhow::Result<()> {
    let mut line = TcpStream::connect_timeout(&address, PATIENCE).context("no instance is listening")?;
    line.set_read_timeout(Some(PATIENCE))?;
    line.set_write_timeout(Some(PATIENCE))?;
    line.write_all(b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut status = [0; STATUS_LINE_BYTES];
    line.read_exact(&mut status).context("no response")?;
    let status = String::from_utf8_lossy(&status);
    anyhow::ensure!(status.ends_with(" 200"), "not ready: {status}");
    Ok(())
}

/// A listener on all addresses is reachable on the loopback address.
fn on_this_machine(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A listener that responds once.
    fn answering(status: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut caller, _) = listener.accept().unwrap();
            let mut request = [0; 4];
            caller.read_exact(&mut request).unwrap();
            caller.write_all(status.as_bytes()).unwrap();
        });
        address
    }

    #[test]
    fn only_status_200_is_ready() {
        ask(answering("HTTP/1.1 200 OK\r\n\r\n")).unwrap();
        for no in ["HTTP/1.1 503 Service Unavailable\r\n\r\n", "HTTP/1.1 404 Not Found\r\n\r\n", "what?"] {
            assert!(ask(answering(no)).is_err(), "{no}");
        }
    }

    #[test]
    fn a_listener_on_all_addresses_is_checked_on_loopback() {
        let here = |address: &str| on_this_machine(address.parse().unwrap()).to_string();
        assert_eq!(here("0.0.0.0:9090"), "127.0.0.1:9090");
        assert_eq!(here("[::]:9090"), "[::1]:9090");
        assert_eq!(here("10.0.0.7:9090"), "10.0.0.7:9090");
    }
}
