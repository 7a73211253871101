//! The sections that services share. Every value has a default that works in a local stack.

use std::fmt;
use std::net::SocketAddr;

use serde::Deserialize;
use url::Url;

/// Where this process runs. Production refuses default secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Environment {
    #[default]
    Local,
    Production,
}

/// Every fault found in the settings, by the variable that carries it.
#[derive(Debug, Default)]
pub struct Faults(Vec<(String, String)>);

impl Faults {
    pub fn add(&mut self, variable: &str, fault: impl Into<String>) {
        self.0.push((variable.to_owned(), fault.into()));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses a secret that is still the published default, unless this is a local stack.
    pub fn refuse_default_secret(&mut self, variable: &str, secret: &Secret, environment: Environment) {
        if environment == Environment::Production && secret.expose().starts_with(Secret::LOCAL_PREFIX) {
            self.add(variable, "still has its published default, which production refuses");
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (variable, fault) in &self.0 {
            writeln!(f, "  {variable}: {fault}")?;
        }
        Ok(())
    }
}

/// A setting that must not be shown. Defaults begin with [`Secret::LOCAL_PREFIX`].
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub const LOCAL_PREFIX: &'static str = "local-";

    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The service's own database (`WAYBILL_DATABASE__…`). No default URL: each service has its own.
#[derive(Clone, Debug, Deserialize)]
pub struct Database {
    /// `postgres://user:password@host:port/database`
    pub url: Secret,
    #[serde(default = "Database::default_pool_size")]
    pub pool_size: usize,
}

impl Database {
    fn default_pool_size() -> usize {
        8
    }

    /// Names what is wrong with this section.
    pub fn check(&self, faults: &mut Faults) {
        if !(2..=200).contains(&self.pool_size) {
            faults.add("WAYBILL_DATABASE__POOL_SIZE", "must be between 2 and 200");
        }
        if !self.url.expose().starts_with("postgres") {
            faults.add("WAYBILL_DATABASE__URL", "must be a postgres:// URL");
        }
    }
}

/// The broker (`WAYBILL_BROKER__…`).
#[derive(Clone, Debug, Deserialize)]
pub struct Broker {
    /// `amqp://user:password@host:port/vhost`
    pub url: Secret,
}

/// Where this service listens (`WAYBILL_HTTP__…`). Port 0 takes a free one.
#[derive(Clone, Debug, Deserialize)]
pub struct Http {
    /// For callers from outside. Only order-api and portal-api have one.
    pub public: Option<SocketAddr>,
    /// For the other services, with the internal token.
    pub internal: SocketAddr,
    /// For the platform: health and metrics.
    pub management: SocketAddr,
}

/// What the services show each other on internal calls (`WAYBILL_INTERNAL__…`).
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Internal {
    pub token: Secret,
}

impl Default for Internal {
    fn default() -> Self {
        Self { token: Secret::new("local-internal-token-of-the-local-stack") }
    }
}

/// Where the other services' internal listeners are (`WAYBILL_PEERS__…`); a service reads those it calls.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Peers {
    pub order_api: Url,
    pub wallet: Url,
    pub key_management: Url,
    pub portal_api: Url,
    pub webhook_dispatcher: Url,
}

impl Default for Peers {
    fn default() -> Self {
        let at = |port: u16| {
            let mut url = Url::parse("http://127.0.0.1/").unwrap_or_else(|_| unreachable!("a constant URL"));
            // Setting a port fails only for URLs without a host.
            url.set_port(Some(port)).unwrap_or_else(|()| unreachable!("the URL has a host"));
            url
        };
        Self {
            order_api: at(8181),
            wallet: at(8182),
            key_management: at(8183),
            portal_api: at(8184),
            webhook_dispatcher: at(8185),
        }
    }
}

/// What the operator's customers see (`WAYBILL_BRAND__…`).
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Brand {
    /// The product name on pages and in messages.
    pub name: String,
    /// The `Service` of `Service-Timestamp` and `Service-Signature`.
    pub header_prefix: String,
    /// The `waybill` of `sk_test_waybill_…`.
    pub key_segment: String,
    /// The colour of the portal's buttons and links, as `#rrggbb`.
    pub accent_color: String,
}

impl Default for Brand {
    fn default() -> Self {
        Self {
            name: "Waybill".into(),
            header_prefix: "Service".into(),
            key_segment: "waybill".into(),
            accent_color: "#1d4ed8".into(),
        }
    }
}

impl Brand {
    /// Names what is wrong with this section.
    pub fn check(&self, faults: &mut Faults) {
        if self.name.trim().is_empty() {
            faults.add("WAYBILL_BRAND__NAME", "must not be empty");
        }
        let header = &self.header_prefix;
        if header.is_empty() || !header.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            faults.add("WAYBILL_BRAND__HEADER_PREFIX", "must be ASCII letters, digits and hyphens");
        }
        let segment = &self.key_segment;
        let plain = segment.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if !(1..=20).contains(&segment.len()) || !plain {
            faults.add("WAYBILL_BRAND__KEY_SEGMENT", "must be 1 to 20 lower-case ASCII letters and digits");
        }
        let digits = self.accent_color.strip_prefix('#').unwrap_or_default();
        if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            faults.add("WAYBILL_BRAND__ACCENT_COLOR", "must be a colour such as #1d4ed8");
        }
    }
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    #[default]
    Json,
    Pretty,
}

/// Logs and traces (`WAYBILL_TELEMETRY__…`).
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Telemetry {
    pub format: LogFormat,
    /// As `RUST_LOG`: `info,wallet=debug`.
    pub filter: String,
    /// The OTLP/HTTP collector that traces are sent to; none when left out.
    pub otlp_endpoint: Option<Url>,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self {
            format: LogFormat::Json, // What lapin says of lost connections, our own messaging says better and once.
            // What strangers send to the listeners is no fault of ours, and actix-http calls it an error.
            filter: "info,lapin=off,actix_http=off".into(),
            otlp_endpoint: None,
        }
    }
}
