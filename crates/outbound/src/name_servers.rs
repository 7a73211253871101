//! The name servers that resolve the hosts of strangers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

const DNS_PORT: u16 = 53;

/// Addresses written as `10.0.0.2, [2001:db8::1]:5353`. None means the system's name servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub struct NameServers(Vec<SocketAddr>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not the address of a name server, such as 10.0.0.2 or 10.0.0.2:5353")]
pub struct InvalidNameServer(String);

impl NameServers {
    pub fn iter(&self) -> impl Iterator<Item = &SocketAddr> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for NameServers {
    type Err = InvalidNameServer;

    fn from_str(text: &str) -> Result<Self, InvalidNameServer> {
        settings::comma_separated_parts(text)
            .map(|part| {
                let bare = part.parse::<IpAddr>().map(|address| SocketAddr::new(address, DNS_PORT));
                bare.or_else(|_| part.parse()).map_err(|_| InvalidNameServer(part.to_owned()))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl From<NameServers> for String {
    fn from(servers: NameServers) -> Self {
        settings::comma_separated(servers.0)
    }
}

impl TryFrom<String> for NameServers {
    type Error = InvalidNameServer;

    fn try_from(text: String) -> Result<Self, InvalidNameServer> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_and_without_a_port() {
        let servers: NameServers = "10.0.0.2, [2001:db8::1]:5353, 2001:db8::2".parse().unwrap();
        let texts: Vec<_> = servers.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["10.0.0.2:53", "[2001:db8::1]:5353", "[2001:db8::2]:53"]);
        assert!("".parse::<NameServers>().unwrap().is_empty());
        for wrong in ["dns.example", "10.0.0.2:", "10.0.0.2:99999", "10.0.0"] {
            assert!(wrong.parse::<NameServers>().is_err(), "{wrong}");
        }
    }
}
