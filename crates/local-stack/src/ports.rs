//! Free loopback ports for servers.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::{Mutex, PoisonError};

use anyhow::bail;
use domain::Entropy;

/// Below the ephemeral ports (32768 and up on Linux), so that an outgoing connection cannot take a server's port while
/// the server restarts.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// RabbitMQ's standard port for its nodes. It stays free for the machine's own server.
const EXCLUDED: [u16; 1] = [25_672];

/// The ports that this process has reserved. Each reservation holds a UDP socket of the same number, so that no other
/// process reserves it before the server listens. The reservation ends with this process.
static RESERVED: Mutex<BTreeMap<u16, UdpSocket>> = Mutex::new(BTreeMap::new());

/// A loopback address.
pub(crate) fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// A free port that this process has not reserved before.
pub(crate) fn free(entropy: &Entropy) -> anyhow::Result<u16> {
    for _ in 0..2_000 {
        let offset = u16::try_from(entropy.below(u32::from(COUNT)))?;
        if let Some(port) = claim(FIRST + offset) {
            return Ok(port);
        }
    }
    bail!("no free port between {FIRST} and {}", FIRST + COUNT)
}

/// A free loopback port, for a server that a test starts.
///
/// # Errors
/// When there is none.
pub fn free_port() -> anyhow::Result<u16> {
    free(&Entropy::from_system()?)
}

/// The given port if it is still free, or else another one.
pub(crate) fn remembered_or_free(remembered: u16, entropy: &Entropy) -> anyhow::Result<u16> {
    match claim(remembered) {
        Some(port) => Ok(port),
        None => free(entropy),
    }
}

fn claim(port: u16) -> Option<u16> {
    if port == 0 || EXCLUDED.contains(&port) {
        return None;
    }
    let claim = UdpSocket::bind(loopback(port)).ok()?;
    TcpListener::bind(loopback(port)).ok()?;
    RESERVED.lock().unwrap_or_else(PoisonError::into_inner).insert(port, claim);
    Some(port)
}

/// Releases the port of a server that was stopped for good.
pub(crate) fn release(port: u16) {
    RESERVED.lock().unwrap_or_else(PoisonError::into_inner).remove(&port);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_reserved_once() {
        let entropy = Entropy::seeded(7);
        let first = free(&entropy).unwrap();
        assert_ne!(remembered_or_free(first, &entropy).unwrap(), first);
        release(first);
        assert_eq!(remembered_or_free(first, &entropy).unwrap(), first);
    }

    #[test]
    fn a_port_in_use_is_not_reserved() {
        let entropy = Entropy::seeded(8);
        let holder = TcpListener::bind(loopback(0)).unwrap();
        let taken = holder.local_addr().unwrap().port();
        assert_ne!(remembered_or_free(taken, &entropy).unwrap(), taken);
        assert_ne!(remembered_or_free(25_672, &entropy).unwrap(), 25_672);
    }
}
