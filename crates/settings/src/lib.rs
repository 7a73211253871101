//! Layered, typed configuration. A service describes what it needs as a serde struct made of the sections below;
//! [`load`] fills it from, lowest to highest: the defaults (which suit a local stack), the TOML file that
//! `WAYBILL_SETTINGS_FILE` names, and environment variables such as `WAYBILL_DATABASE__URL`.
//!
//! This crate is the one place that reads environment variables.

mod load;
mod sections;
mod trusted_proxies;

pub use load::{Settings, SettingsError, load, load_from, search_path};
pub use sections::{
    Brand, Broker, Database, Environment, Faults, Http, Internal, LogFormat, Peers, Secret, Telemetry,
};
pub use trusted_proxies::TrustedProxies;
