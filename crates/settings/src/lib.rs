//! Layered, typed configuration. A service declares its settings as a serde struct of the sections below. [`load`]
//! fills it from these layers, lowest first: the defaults (which suit a local stack), the TOML file that
//! `WAYBILL_SETTINGS_FILE` names, and environment variables such as `WAYBILL_DATABASE__URL`, or the files that
//! variables such as `WAYBILL_DATABASE__URL_FILE` name.
//!
//! No other crate reads environment variables.

mod certificates;
mod database_url;
mod describe;
mod errors;
mod file_contents;
mod files;
mod internal;
mod layers;
mod load;
mod networks;
mod rules;
mod secret;
mod sections;
mod server_parts;
mod settings_file;
#[cfg(test)]
mod tests;
mod tokens;

use std::fmt::Display;
use std::net::IpAddr;

pub use certificates::Certificates;
pub use database_url::{DatabaseUrl, Encryption};
pub use describe::{Setting, Settings, describe};
pub use errors::{SettingErrors, SettingsError};
pub use internal::{Callers, Internal};
pub use load::{check, load, load_from, search_path, unknown_variables};
pub use networks::Networks;
pub use rules::{origin, published};
pub use secret::Secret;
pub use sections::{Brand, Broker, Database, Environment, Events, Http, LogFormat, Peers, Telemetry};
pub use tokens::Tokens;

/// Whether traffic to this host stays on this machine.
pub fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The entries of a setting that is a list.
pub fn comma_separated_parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

/// The form that [`comma_separated_parts`] reads.
pub fn comma_separated(items: impl IntoIterator<Item = impl Display>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    items.join(",")
}
