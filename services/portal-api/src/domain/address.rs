//! Where a caller is, as far as limits go.

use std::net::{IpAddr, Ipv6Addr};

/// One household's or one machine's address: an IPv4 address, or the /64 network that IPv6 hands to a customer whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address(IpAddr);

impl Address {
    pub(crate) fn new(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            ipv4 @ IpAddr::V4(_) => ipv4,
        })
    }

    /// The last address of a proxy's header: each proxy appends the one it saw, so only the last is our own proxy's word.
    pub(crate) fn from_header(value: &str) -> Option<Self> {
        value.rsplit(',').next()?.trim().parse().ok().map(Self::new)
    }

    pub(crate) fn text(self) -> String {
        self.0.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_customer_is_one_address() {
        let one = Address::new("2001:db8:1:2:3::4".parse().unwrap());
        let other = Address::new("2001:db8:1:2:ffff::9".parse().unwrap());
        assert_eq!(one, other);
        assert_ne!(one, Address::new("2001:db8:1:3::1".parse().unwrap()));
        assert_eq!(
            Address::new("::ffff:10.0.0.1".parse().unwrap()),
            Address::new("10.0.0.1".parse().unwrap())
        );
    }

    #[test]
    fn what_a_client_writes_into_the_header_itself_does_not_count() {
        assert_eq!(Address::from_header("1.1.1.1, 203.0.113.9").unwrap().text(), "203.0.113.9");
        assert_eq!(Address::from_header("unknown"), None);
    }
}
