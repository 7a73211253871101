//! The address of a caller, for limits per address and for allow-lists.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use actix_web::HttpRequest;
use actix_web::http::header::HeaderMap;
use settings::Networks;

/// An IPv4 address, or the /64 network of an IPv6 address, because a customer gets a whole /64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallerAddress(IpAddr);

impl CallerAddress {
    pub fn new(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
            ipv4 @ IpAddr::V4(_) => ipv4,
        })
    }

    /// The address of the request's sender. `None` without a connection, as in unit tests.
    pub fn of(request: &HttpRequest, proxies: &Networks) -> Option<Self> {
        let peer = request.peer_addr()?.ip();
        let (Ok(address) | Err(address)) = client(peer, request.headers(), proxies);
        Some(Self::new(address))
    }

    pub fn text(self) -> String {
        self.0.to_string()
    }
}

/// The exact address of the request's sender. `None` if the trusted proxies do not report a readable one.
pub fn caller_ip(request: &HttpRequest, proxies: &Networks) -> Option<IpAddr> {
    client(request.peer_addr()?.ip(), request.headers(), proxies).ok()
}

/// The first address, from our end, that is not a trusted proxy. Each proxy appends its caller to `X-Forwarded-For`.
/// Entries left of the first untrusted address are ignored, because the caller can forge them.
///
/// # Errors
/// With the last trusted proxy, if that did not report its caller.
fn client(peer: IpAddr, headers: &HeaderMap, proxies: &Networks) -> Result<IpAddr, IpAddr> {
    let lists: Vec<&str> =
        headers.get_all("X-Forwarded-For").map(|value| value.to_str().unwrap_or_default()).collect();
    let hops = lists.iter().rev().flat_map(|list| list.rsplit(','));
    let mut nearest = peer.to_canonical();
    for hop in hops {
        if !proxies.contain(nearest) {
            return Ok(nearest);
        }
        nearest = address(hop.trim()).ok_or(nearest)?;
    }
    if proxies.contain(nearest) { Err(nearest) } else { Ok(nearest) }
}

/// Accepts an address with a port, because some proxies add it.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<IpAddr>().or_else(|_| text.parse::<SocketAddr>().map(|address| address.ip()));
    address.ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    #[test]
    fn only_addresses_from_trusted_proxies_count() {
        let none = "";
        let near = "10.0.0.0/8";
        let (known, unknown) = (true, false);
        for (peer, forwarded, proxies, expected, is_known) in [
            ("10.0.0.9", &["198.51.100.7"][..], none, "10.0.0.9", known),
            ("10.0.0.9", &["198.51.100.7"], near, "198.51.100.7", known),
            ("::ffff:10.0.0.9", &["198.51.100.7"], near, "198.51.100.7", known),
            ("10.0.0.9", &["6.6.6.6, 198.51.100.7"], near, "198.51.100.7", known),
            ("10.0.0.9", &["6.6.6.6", "198.51.100.7"], near, "198.51.100.7", known),
            ("10.0.0.9", &["6.6.6.6, 198.51.100.7,10.0.0.8"], near, "198.51.100.7", known),
            ("10.0.0.9", &["6.6.6.6, 198.51.100.7", "10.0.0.8"], near, "198.51.100.7", known),
            // Calls that bypass the proxies: their own header is ignored.
            ("203.0.113.5", &["6.6.6.6, 10.0.0.8"], near, "203.0.113.5", known),
            ("10.0.0.9", &["nonsense"], near, "10.0.0.9", unknown),
            ("10.0.0.9", &["6.6.6.6, nonsense, 10.0.0.8"], near, "10.0.0.8", unknown),
            ("10.0.0.9", &["198.51.100.7:4711"], near, "198.51.100.7", known),
            ("10.0.0.9", &["[2001:db8::7]:4711"], near, "2001:db8::7", known),
            ("10.0.0.9", &["[2001:db8::7]"], near, "2001:db8::7", known),
            ("10.0.0.9", &["2001:db8::7"], near, "2001:db8::7", known),
            ("10.0.0.9", &["10.1.1.1, 10.0.0.8"], near, "10.1.1.1", unknown),
            ("10.0.0.9", &[], near, "10.0.0.9", unknown),
            ("10.0.0.9", &[""], near, "10.0.0.9", unknown),
            ("10.0.0.9", &["198.51.100.7,"], near, "10.0.0.9", unknown),
            ("203.0.113.5", &["nonsense"], near, "203.0.113.5", known),
            ("10.0.0.9", &["\u{e9}"], near, "10.0.0.9", unknown),
        ] {
            let mut headers = HeaderMap::new();
            for value in forwarded {
                headers.append(
                    HeaderName::from_static("x-forwarded-for"),
                    HeaderValue::from_bytes(value.as_bytes()).unwrap(),
                );
            }
            let proxies = Networks::parse(proxies).unwrap();
            let expected: IpAddr = expected.parse().unwrap();
            let expected = if is_known { Ok(expected) } else { Err(expected) };
            let found = client(peer.parse().unwrap(), &headers, &proxies);
            assert_eq!(found, expected, "{peer} {forwarded:?} {proxies:?}");
        }
    }

    #[test]
    fn an_ipv6_customer_is_one_address() {
        let of = |text: &str| CallerAddress::new(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2:3::4"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
