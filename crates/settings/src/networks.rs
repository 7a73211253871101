//! Lists of networks and addresses.

use std::net::IpAddr;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Networks in CIDR form or single addresses, separated by commas. None by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub struct Networks(Vec<IpNet>);

impl Networks {
    /// # Errors
    /// Names the entry that is neither a network nor an address.
    pub fn parse(text: &str) -> Result<Self, String> {
        let networks = crate::comma_separated_parts(text).map(|entry| {
            let network = entry.parse::<IpNet>().or_else(|_| entry.parse::<IpAddr>().map(IpNet::from));
            network.map_err(|_| format!("{entry:?} is neither a network, such as 10.0.0.0/8, nor an address"))
        });
        networks.collect::<Result<_, _>>().map(Self)
    }

    /// The text of each entry: `203.0.113.0/24` for a network, `192.0.2.7` for an address.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|network| {
            let is_address = network.prefix_len() == network.max_prefix_len();
            if is_address { network.addr().to_string() } else { network.to_string() }
        })
    }

    pub fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl TryFrom<String> for Networks {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Networks> for String {
    fn from(networks: Networks) -> Self {
        crate::comma_separated(networks.texts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_addresses() {
        let proxies = Networks::parse("10.0.0.0/8, 192.0.2.7,2001:db8::/32").unwrap();
        for trusted in ["10.255.0.1", "192.0.2.7", "2001:db8:1::1"] {
            assert!(proxies.contain(trusted.parse().unwrap()), "{trusted}");
        }
        for other in ["11.0.0.1", "192.0.2.8", "2001:db9::1"] {
            assert!(!proxies.contain(other.parse().unwrap()), "{other}");
        }
        assert_eq!(String::from(proxies), "10.0.0.0/8,192.0.2.7,2001:db8::/32");
        assert_eq!(Networks::parse(""), Ok(Networks::default()));
        for bad in ["10.0.0.0/33", "proxy.example", "1", "10.0.0.0/8 192.0.2.7"] {
            assert!(Networks::parse(bad).is_err(), "{bad}");
        }
    }
}
