//! Calls to URLs of strangers: webhook endpoints, and identity providers of businesses. Only public addresses are called, and
//! the address that was vetted is the one that is called.

mod addresses;
mod name_servers;
mod resolver;
mod url_rule;

pub use addresses::{AddressRanges, Policy, TargetRefused};
pub use name_servers::NameServers;
pub use resolver::{ResolveError, VettingResolver};
pub use url_rule::{UrlError, parse_url};
