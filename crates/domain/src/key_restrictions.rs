//! What an API key may do, and from which addresses. A key without restrictions may do everything from everywhere.

use std::net::IpAddr;
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// What a key may be allowed to do.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
pub enum KeyScope {
    /// Create, cancel and simulate orders.
    #[serde(rename = "orders:write")]
    #[strum(serialize = "orders:write")]
    WriteOrders,
    /// Read orders and their timelines.
    #[serde(rename = "orders:read")]
    #[strum(serialize = "orders:read")]
    ReadOrders,
    /// Read the events feed.
    #[serde(rename = "events:read")]
    #[strum(serialize = "events:read")]
    ReadEvents,
}

impl KeyScope {
    /// For error messages.
    pub const WORDS: &str = "orders:write, orders:read or events:read";

    /// The name used in JSON and SQL.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The text is neither a network nor an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a network, such as 203.0.113.0/24, or an address")]
pub struct IpNetworkError;

/// A network in its canonical form: without host bits, and IPv4 also if it was written as IPv4-mapped IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IpNetwork(IpNet);

impl FromStr for IpNetwork {
    type Err = IpNetworkError;

    fn from_str(text: &str) -> Result<Self, IpNetworkError> {
        let text = text.trim();
        let network = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map(|network| Self(canonical(network))).map_err(|_| IpNetworkError)
    }
}

fn canonical(network: IpNet) -> IpNet {
    const MAPPED_PREFIX: u8 = 96;
    let mapped = match network {
        IpNet::V6(v6) => v6.prefix_len().checked_sub(MAPPED_PREFIX).zip(v6.addr().to_ipv4_mapped()),
        IpNet::V4(_) => None,
    };
    let mapped = mapped.and_then(|(prefix, address)| Ipv4Net::new(address, prefix).ok());
    mapped.map_or(network, IpNet::V4).trunc()
}

/// The networks from which a key may be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct IpAllowList(Vec<IpNetwork>);

impl IpAllowList {
    pub const ENTRIES_MAX: usize = 20;

    /// Sorted, without duplicates.
    pub fn new(mut networks: Vec<IpNetwork>) -> Self {
        networks.sort_unstable();
        networks.dedup();
        Self(networks)
    }

    /// The address must be canonical: IPv4 if it is IPv4-mapped.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.0.contains(&address))
    }

    pub fn to_texts(&self) -> Vec<String> {
        self.0.iter().map(|network| network.0.to_string()).collect()
    }
}

impl TryFrom<Vec<String>> for IpAllowList {
    type Error = IpNetworkError;

    fn try_from(texts: Vec<String>) -> Result<Self, IpNetworkError> {
        texts.iter().map(|text| text.parse()).collect::<Result<_, _>>().map(Self::new)
    }
}

impl From<IpAllowList> for Vec<String> {
    fn from(list: IpAllowList) -> Self {
        list.to_texts()
    }
}

/// An absent restriction allows everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyRestrictions {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<KeyScope>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_allow_list: Option<IpAllowList>,
}

impl KeyRestrictions {
    pub fn are_none(&self) -> bool {
        self.scopes.is_none() && self.ip_allow_list.is_none()
    }

    pub fn allow(&self, scope: KeyScope) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.contains(&scope))
    }

    /// `address` is called only if it matters. No list contains an unknown address.
    pub fn allow_from(&self, address: impl FnOnce() -> Option<IpAddr>) -> bool {
        let list = self.ip_allow_list.as_ref();
        list.is_none_or(|list| address().is_some_and(|address| list.contains(address)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(texts: &[&str]) -> IpAllowList {
        IpAllowList::try_from(texts.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn networks_are_canonical_and_listed_once() {
        for (text, canonical) in [
            ("203.0.113.7", "203.0.113.7/32"),
            (" 203.0.113.7/24 ", "203.0.113.0/24"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("2001:DB8::7", "2001:db8::7/128"),
            ("2001:db8:0:0:1::/64", "2001:db8::/64"),
            ("::/0", "::/0"),
            ("::ffff:10.1.2.3", "10.1.2.3/32"),
            ("::ffff:10.1.2.3/104", "10.0.0.0/8"),
            ("::ffff:10.1.2.3/96", "0.0.0.0/0"),
            ("::ffff:10.1.2.3/95", "::fffe:0:0/95"),
        ] {
            assert_eq!(list(&[text]).to_texts(), [canonical], "{text}");
        }
        for bad in
            ["", " ", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.0/-1", "shop.example", "10.0.0.1:80"]
        {
            assert_eq!(bad.parse::<IpNetwork>(), Err(IpNetworkError), "{bad}");
        }
        let many = list(&["2001:db8::/32", "10.0.0.0/8", "10.9.9.9/8", "::ffff:10.0.0.0/104", "192.0.2.1"]);
        assert_eq!(many.to_texts(), ["10.0.0.0/8", "192.0.2.1/32", "2001:db8::/32"]);
    }

    #[test]
    fn restrictions_are_written_as_read() {
        let none = KeyRestrictions::default();
        assert_eq!(serde_json::to_string(&none).unwrap(), "{}");
        let text = r#"{"scopes":["orders:write","events:read"],"ipAllowList":["10.0.0.0/8"]}"#;
        let both: KeyRestrictions = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&both).unwrap(), text);
        assert!(none.are_none() && !both.are_none());
        assert!(serde_json::from_str::<KeyRestrictions>(r#"{"ipAllowList":["x"]}"#).is_err());
        assert!(serde_json::from_str::<KeyRestrictions>(r#"{"scopes":["x"]}"#).is_err());
    }

    #[test]
    fn a_key_may_do_what_its_scopes_name() {
        for scope in KeyScope::VARIANTS {
            assert_eq!(scope.as_str().parse(), Ok(*scope));
            assert!(KeyRestrictions::default().allow(*scope));
            let only = KeyRestrictions { scopes: Some(vec![*scope]), ..KeyRestrictions::default() };
            let allowed: Vec<_> = KeyScope::VARIANTS.iter().filter(|other| only.allow(**other)).collect();
            assert_eq!(allowed, [scope]);
        }
    }

    #[test]
    fn an_unknown_address_is_in_no_list() {
        let everywhere = list(&["0.0.0.0/0", "::/0"]);
        let restricted = KeyRestrictions { ip_allow_list: Some(everywhere), ..KeyRestrictions::default() };
        assert!(restricted.allow_from(|| Some("192.0.2.1".parse().unwrap())));
        assert!(!restricted.allow_from(|| None));
        assert!(KeyRestrictions::default().allow_from(|| None));
    }

    /// The first `prefix` of `bits` bits.
    fn first_bits(address: u128, prefix: u8, bits: u8) -> u128 {
        if prefix == 0 { 0 } else { address >> (bits - prefix) }
    }

    proptest! {
        /// A network contains the addresses with the same first bits, and no others.
        #[test]
        fn a_list_contains_the_addresses_of_its_networks(
            network in any::<u128>(), address in any::<u128>(), prefix in 0..=128_u8, flipped in 0..=128_u32,
        ) {
            // Mostly near the network: random addresses would share no bits with it.
            let near = network ^ 1_u128.checked_shl(flipped).unwrap_or(0);
            for address in [address, near] {
                let text = format!("{}/{prefix}", IpAddr::from(network.to_be_bytes()));
                let expected = first_bits(network, prefix, 128) == first_bits(address, prefix, 128);
                prop_assert_eq!(list(&[&text]).contains(IpAddr::from(address.to_be_bytes())), expected);
            }
        }

        #[test]
        fn ipv4_networks_contain_ipv4_addresses_only(
            network in any::<u32>(), flipped in 0..=32_u32, prefix in 0..=32_u8, other in any::<u128>(),
        ) {
            let address = network ^ 1_u32.checked_shl(flipped).unwrap_or(0);
            let listed = list(&[&format!("{}/{prefix}", IpAddr::from(network.to_be_bytes()))]);
            let expected =
                first_bits(network.into(), prefix, 32) == first_bits(address.into(), prefix, 32);
            prop_assert_eq!(listed.contains(IpAddr::from(address.to_be_bytes())), expected);
            prop_assert!(!listed.contains(IpAddr::from(other.to_be_bytes())));
        }

        /// A list reads what it writes.
        #[test]
        fn the_canonical_form_is_stable(address in any::<u128>(), prefix in 0..=128_u8) {
            let once = list(&[&format!("{}/{prefix}", IpAddr::from(address.to_be_bytes()))]);
            prop_assert_eq!(IpAllowList::try_from(once.to_texts()), Ok(once));
        }
    }
}
