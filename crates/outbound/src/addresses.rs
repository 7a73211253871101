//! Addresses that may be called: global unicast ones, and ranges that the operator allows (SPECIFICATION §14). Others could
//! reach the operator's own network, or the metadata service of its cloud (SSRF).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// Why a URL must not be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetRefused {
    #[error("plain http is not allowed; use https")]
    PlainHttp,
    /// Without the address: error messages must not reveal the operator's network.
    #[error("{host} leads to an address that is not public")]
    NotPublic { host: String },
}

/// Ranges written as `10.1.0.0/16, fd00::/8`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub struct AddressRanges(Vec<IpNet>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a range such as 10.1.0.0/16")]
pub struct InvalidRange(String);

impl std::str::FromStr for AddressRanges {
    type Err = InvalidRange;

    fn from_str(text: &str) -> Result<Self, InvalidRange> {
        settings::comma_separated_parts(text)
            .map(|part| part.parse().map_err(|_| InvalidRange(part.to_owned())))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl From<AddressRanges> for String {
    fn from(ranges: AddressRanges) -> Self {
        settings::comma_separated(ranges.0)
    }
}

impl TryFrom<String> for AddressRanges {
    type Error = InvalidRange;

    fn try_from(text: String) -> Result<Self, InvalidRange> {
        text.parse()
    }
}

/// The operator's rules.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub allow_http: bool,
    pub allowed_ranges: AddressRanges,
}

impl Policy {
    pub fn allows(&self, address: IpAddr) -> bool {
        // ::ffff:10.0.0.1 reaches the same machine as 10.0.0.1.
        let address = address.to_canonical();
        is_public(address) || self.allowed_ranges.0.iter().any(|range| range.contains(&address))
    }

    /// Checks the scheme, and the host if it is an address. The `url` crate has already parsed every spelling of an
    /// address (`0x7f.1`, `2130706433`, `017700000001`).
    ///
    /// # Errors
    /// When the URL is not allowed.
    pub fn vet_url(&self, url: &Url) -> Result<(), TargetRefused> {
        if url.scheme() != "https" && !(self.allow_http && url.scheme() == "http") {
            return Err(TargetRefused::PlainHttp);
        }
        let address = match url.host() {
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address),
            Some(Host::Domain(name)) => {
                return self.local_addresses(name).map_or(Ok(()), |local| local.map(drop));
            }
            None => return Err(TargetRefused::NotPublic { host: String::new() }),
        };
        self.vet(&address.to_string(), &[address])
    }

    /// The allowed loopback addresses for `localhost` and names below it, which no name server may redefine (RFC 6761
    /// §6.3). None for any other name.
    pub fn local_addresses(&self, name: &str) -> Option<Result<Vec<IpAddr>, TargetRefused>> {
        if !is_localhost(name) {
            return None;
        }
        let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
        let allowed: Vec<_> = loopback.into_iter().filter(|address| self.allows(*address)).collect();
        let refused = || TargetRefused::NotPublic { host: name.to_owned() };
        Some(if allowed.is_empty() { Err(refused()) } else { Ok(allowed) })
    }

    /// Checks the addresses of a name. One forbidden address is enough to refuse: the HTTP client chooses the address.
    ///
    /// # Errors
    /// When any address is not allowed.
    pub fn vet(&self, host: &str, addresses: &[IpAddr]) -> Result<(), TargetRefused> {
        if addresses.iter().all(|address| self.allows(*address)) {
            Ok(())
        } else {
            Err(TargetRefused::NotPublic { host: host.to_owned() })
        }
    }
}

/// Whether an address is global unicast: reachable from the internet.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(a: u16, b: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), length)
}

/// IANA's special-purpose registry, and special addresses of clouds.
const SPECIAL_V4: [Ipv4Net; 17] = [
    v4(0, 0, 0, 0, 8),          // this network
    v4(10, 0, 0, 0, 8),         // private
    v4(100, 64, 0, 0, 10),      // carrier-grade NAT
    v4(127, 0, 0, 0, 8),        // loopback
    v4(168, 63, 129, 16, 32),   // Azure's platform services, on an address that looks public
    v4(169, 254, 0, 0, 16),     // link-local, and most clouds' metadata
    v4(172, 16, 0, 0, 12),      // private
    v4(192, 0, 0, 0, 24),       // protocol assignments
    v4(192, 0, 2, 0, 24),       // documentation
    v4(192, 88, 99, 0, 24),     // 6to4 relays
    v4(192, 168, 0, 0, 16),     // private
    v4(198, 18, 0, 0, 15),      // benchmarks
    v4(198, 51, 100, 0, 24),    // documentation
    v4(203, 0, 113, 0, 24),     // documentation
    v4(224, 0, 0, 0, 4),        // multicast
    v4(240, 0, 0, 0, 4),        // reserved
    v4(255, 255, 255, 255, 32), // broadcast
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|range| range.contains(&address))
}

const GLOBAL_UNICAST: Ipv6Net = v6(0x2000, 0, 3);
/// Special parts of 2000::/3. Teredo and 6to4 embed IPv4 addresses; both are obsolete, so they are refused entirely.
const SPECIAL_V6: [Ipv6Net; 4] = [
    v6(0x2001, 0, 23),     // protocol assignments, Teredo (2001::/32) among them
    v6(0x2001, 0xdb8, 32), // documentation
    v6(0x2002, 0, 16),     // 6to4
    v6(0x3fff, 0, 20),     // documentation
];
/// The NAT64 prefix: embeds an IPv4 address, which decides.
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 96);

fn is_public_v6(address: Ipv6Addr) -> bool {
    if NAT64.contains(&address) {
        let [.., a, b, c, d] = address.octets();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    GLOBAL_UNICAST.contains(&address) && !SPECIAL_V6.iter().any(|range| range.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_address_is_public_and_the_neighbours_of_special_ranges_are() {
        for text in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2003::1",
            "64:ff9b::101:101",
            "::ffff:1.1.1.1",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn special_addresses_are_not_public() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "169.254.170.2",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "64:ff9b::a00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:7f00:1::",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::",
            "2002:101:101::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fdff::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "ff0e::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn the_operator_may_allow_ranges() {
        let policy = |ranges: &str| Policy { allow_http: true, allowed_ranges: ranges.parse().unwrap() };
        let local = policy("127.0.0.0/8, fd00::/8");
        for (text, allowed) in [
            ("127.0.0.1", true),
            ("::ffff:127.9.9.9", true),
            ("fd12::1", true),
            ("8.8.8.8", true),
            ("10.0.0.1", false),
            ("::1", false),
            ("fc00::1", false),
        ] {
            assert_eq!(local.allows(text.parse().unwrap()), allowed, "{text}");
        }
        assert!(policy("::1/128").allows("::1".parse().unwrap()));
        assert!("127.0.0.1/33".parse::<AddressRanges>().is_err());
        assert!("10.0.0.0".parse::<AddressRanges>().is_err());
        assert_eq!("".parse(), Ok(AddressRanges::default()));
    }

    #[test]
    fn one_forbidden_address_refuses_the_name() {
        let addresses = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>();
        let policy = Policy::default();
        assert_eq!(policy.vet("shop.example", &addresses(&["1.1.1.1", "2606:4700::1"])), Ok(()));
        let refused = Err(TargetRefused::NotPublic { host: "shop.example".into() });
        assert_eq!(policy.vet("shop.example", &addresses(&["1.1.1.1", "10.0.0.1"])), refused);
        assert_eq!(policy.vet("shop.example", &addresses(&["::1", "1.1.1.1"])), refused);
    }
}
