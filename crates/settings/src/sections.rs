//! The sections that services share. Every value has a default that works in a local stack.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{Certificates, DatabaseUrl, Secret, SettingErrors, rules};

/// Where this process runs. Production refuses default secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Environment {
    #[default]
    Local,
    Production,
}

/// The service's own database (`WAYBILL_DATABASE__…`). No default URL: each service has its own.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Database {
    /// Where the service's own database is, and as whom it is used. The role that serves needs less than the one that
    /// migrates (`deploy/grants/`). Options behind it are libpq's: `sslmode=verify-full` speaks TLS with the host of the
    /// URL and nobody else, certified by the authority whose certificate is in the file `sslrootcert`, or by one that the system
    /// trusts; `verify-ca` lets the host have any name; `require` only encrypts, and believes whoever answers, unless
    /// `sslrootcert` makes it `verify-ca`; `prefer`, the default, encrypts where the server offers it; `disable` never does.
    #[schemars(example = "postgres://user:password@host:5432/database", transform = rules::judged_elsewhere)]
    pub url: Secret,
    /// How many connections one instance may hold.
    #[serde(default = "Database::default_pool_size")]
    #[schemars(range(min = 2, max = 200))]
    pub pool_size: usize,
}

impl Database {
    fn default_pool_size() -> usize {
        8
    }

    /// Names what is wrong with this section.
    pub fn check(&self, errors: &mut SettingErrors) {
        if let Err(error) = DatabaseUrl::parse(&self.url) {
            errors.add("WAYBILL_DATABASE__URL", error);
        }
    }
}

/// The broker (`WAYBILL_BROKER__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Broker {
    /// RabbitMQ, a user and a virtual host of it. `amqps://` speaks TLS, and only with the host of the URL, which an authority
    /// must have certified.
    #[schemars(example = "amqp://user:password@host:5672/vhost", transform = rules::amqp)]
    pub url: Secret,
    /// The certificate of the authority that certifies RabbitMQ, in PEM, or several; the authorities that the system trusts when
    /// left out. `WAYBILL_BROKER__CA_FILE` may name their file instead.
    #[serde(default)]
    #[schemars(title = "certificates")]
    pub ca: Option<Certificates>,
    /// Whether services make the exchange and the shared queues. With `false` the platform has made them, and each
    /// service's user needs rights on nothing but what it publishes to and reads from.
    #[serde(default = "Broker::default_declare")]
    pub declare: bool,
}

impl Broker {
    pub fn new(url: Secret) -> Self {
        Self { url, ca: None, declare: Self::default_declare() }
    }

    fn default_declare() -> bool {
        true
    }

    /// Names what is wrong with this section.
    pub fn check(&self, errors: &mut SettingErrors) {
        // Whoever gives certificates means to be safe.
        if self.ca.is_some() && self.url.expose().starts_with("amqp://") {
            errors.add("WAYBILL_BROKER__CA", "is of use with an amqps:// URL only");
        }
    }
}

/// Where this service listens (`WAYBILL_HTTP__…`). Port 0 takes a free one.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Http {
    /// For callers from outside. order-api and portal-api need one, the others have none.
    #[schemars(title = "address:port")]
    pub public: Option<SocketAddr>,
    /// For the other services, with the internal token.
    #[schemars(title = "address:port", example = "0.0.0.0:8180")]
    pub internal: SocketAddr,
    /// For the platform: health and metrics.
    #[schemars(title = "address:port", example = "0.0.0.0:9090")]
    pub management: SocketAddr,
}

/// What the services show each other on internal calls (`WAYBILL_INTERNAL__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Internal {
    /// What internal calls carry; the same for all services.
    pub token: Secret,
}

impl Default for Internal {
    fn default() -> Self {
        Self { token: Secret::new("local-internal-token-of-the-local-stack") }
    }
}

/// Where the other services' internal listeners are (`WAYBILL_PEERS__…`); a service reads those it calls.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Peers {
    /// The internal listener of order-api.
    pub order_api: Url,
    /// The internal listener of wallet.
    pub wallet: Url,
    /// The internal listener of key-management.
    pub key_management: Url,
    /// The internal listener of portal-api.
    pub portal_api: Url,
    /// The internal listener of webhook-dispatcher.
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
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
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
    pub fn check(&self, errors: &mut SettingErrors) {
        if self.name.trim().is_empty() {
            errors.add("WAYBILL_BRAND__NAME", "must not be empty");
        }
        let header = &self.header_prefix;
        if header.is_empty() || !header.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            errors.add("WAYBILL_BRAND__HEADER_PREFIX", "must be ASCII letters, digits and hyphens");
        }
        let segment = &self.key_segment;
        let plain = segment.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if !(1..=20).contains(&segment.len()) || !plain {
            errors.add("WAYBILL_BRAND__KEY_SEGMENT", "must be 1 to 20 lower-case ASCII letters and digits");
        }
        let digits = self.accent_color.strip_prefix('#').unwrap_or_default();
        if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            errors.add("WAYBILL_BRAND__ACCENT_COLOR", "must be a colour such as #1d4ed8");
        }
    }
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    #[default]
    Json,
    Pretty,
}

/// Logs and traces (`WAYBILL_TELEMETRY__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Telemetry {
    /// How log lines look: for machines, or for people.
    pub format: LogFormat,
    /// Which lines are written: as `RUST_LOG`, `info,wallet=debug` for example.
    pub filter: String,
    /// The OTLP/HTTP collector that traces are sent to; none when left out.
    pub otlp_endpoint: Option<Url>,
    /// The part of the traces begun here that are sent there, from 0 to 1. A caller who sends a context has decided already.
    pub sampling_ratio: f64,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self {
            format: LogFormat::Json, // What lapin says of lost connections, our own messaging says better and once.
            // What strangers send to the listeners is no fault of ours, and actix-http calls it an error.
            filter: "info,lapin=off,actix_http=off".into(),
            otlp_endpoint: None,
            sampling_ratio: 1.0,
        }
    }
}

impl Telemetry {
    /// Names what is wrong with this section.
    pub fn check(&self, errors: &mut SettingErrors) {
        if !(0.0..=1.0).contains(&self.sampling_ratio) {
            errors.add("WAYBILL_TELEMETRY__SAMPLING_RATIO", "must be between 0 and 1");
        }
    }
}
