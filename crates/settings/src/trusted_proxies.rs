//! The trusted proxies. Only they may report a caller's address.

use std::net::IpAddr;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Networks in CIDR form or single addresses, separated by commas (`WAYBILL_LIMITS__TRUSTED_PROXIES`). None by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// # Errors
    /// Names the entry that is neither a network nor an address.
    pub fn parse(text: &str) -> Result<Self, String> {
        let networks = crate::comma_separated_parts(text).map(|entry| {
            let network = entry.parse::<IpNet>().or_else(|_| entry.parse::<IpAddr>().map(IpNet::from));
            network.map_err(|_| format!("{entry:?} is neither a network, such as 10.0.0.0/8, nor an address"))
        });
        networks.collect::<Result<_, _>>().map(Self)
    }

    pub fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl TryFrom<String> for TrustedProxies {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<TrustedProxies> for String {
    fn from(proxies: TrustedProxies) -> Self {
        crate::comma_separated(proxies.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_addresses() {
        let proxies = TrustedProxies::parse("10.0.0.0/8, 192.0.2.7,2001:db8::/32").unwrap();
        for trusted in ["10.255.0.1", "192.0.2.7", "2001:db8:1::1"] {
            assert!(proxies.contain(trusted.parse().unwrap()), "{trusted}");
        }
        for other in ["11.0.0.1", "192.0.2.8", "2001:db9::1"] {
            assert!(!proxies.contain(other.parse().unwrap()), "{other}");
        }
        assert_eq!(TrustedProxies::parse(""), Ok(TrustedProxies::default()));
        for bad in ["10.0.0.0/33", "proxy.example", "1", "10.0.0.0/8 192.0.2.7"] {
            assert!(TrustedProxies::parse(bad).is_err(), "{bad}");
        }
    }
}
