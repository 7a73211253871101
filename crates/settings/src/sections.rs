//! The sections that several services use. Every default suits a local stack.

use std::net::SocketAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{Certificates, DatabaseUrl, Secret, SettingErrors, rules};

/// The kind of installation. Production refuses published secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Environment {
    #[default]
    Local,
    Production,
}

/// The service's own database (`WAYBILL_DATABASE__…`). The URL has no default, because each service has its own
/// database.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Database {
    /// The URL of the service's own database, with its user. The serving user needs fewer permissions than the
    /// migrating one (`WAYBILL_DATABASE__SERVING_ROLE`). It may name several hosts, separated by commas: the service uses the one that
    /// accepts writes. The options are libpq's. `sslmode=verify-full` uses TLS and verifies the URL's
    /// host: its certificate must come from the authority in the file `sslrootcert`, or from an authority of the
    /// system. `verify-ca` allows any host name. `require` encrypts but accepts any server, unless `sslrootcert` makes
    /// it `verify-ca`. `prefer`, the default, encrypts if the server offers TLS. `disable` never encrypts.
    #[schemars(example = "postgres://user:password@host:5432/database", transform = rules::validated_by_its_own_parser)]
    pub url: Secret,
    /// The number of connections of one instance.
    #[serde(default = "Database::default_pool_size")]
    #[schemars(range(min = 2, max = 200))]
    pub pool_size: usize,
    /// For `migrate`: the role of the URL with which the service serves, if another role owns the database and migrates. `migrate`
    /// gives this role its rights, each time. The role must exist.
    #[serde(default)]
    pub serving_role: Option<String>,
}

impl Database {
    fn default_pool_size() -> usize {
        8
    }

    /// Reports errors in this section.
    pub fn check(&self, errors: &mut SettingErrors) {
        if let Err(error) = DatabaseUrl::parse(&self.url) {
            errors.add("WAYBILL_DATABASE__URL", error);
        }
    }
}

/// The broker (`WAYBILL_BROKER__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Broker {
    /// The URL of RabbitMQ, with a user and a virtual host. `amqps://` uses TLS and verifies the URL's host by its
    /// certificate.
    #[schemars(example = "amqp://user:password@host:5672/vhost", transform = rules::amqp)]
    pub url: Secret,
    /// The certificates of RabbitMQ's authorities, in PEM. Without it, the system's authorities are trusted.
    /// `WAYBILL_BROKER__CA_FILE` can name a file with them instead.
    #[serde(default)]
    #[schemars(title = "certificates")]
    pub ca: Option<Certificates>,
    /// Whether the services declare the exchange and the shared queues. With `false`, the platform creates them, and
    /// each service's user needs permissions only for what it publishes to and consumes.
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

    /// Reports errors in this section.
    pub fn check(&self, errors: &mut SettingErrors) {
        // Certificates without TLS are a mistake.
        if self.ca.is_some() && self.url.expose().starts_with("amqp://") {
            errors.add("WAYBILL_BROKER__CA", "requires an amqps:// URL");
        }
    }
}

/// The addresses on which this service listens (`WAYBILL_HTTP__…`). Port 0 picks a free port.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Http {
    /// The listener for public callers. Required by order-api and portal-api; the others have none.
    #[schemars(title = "address:port")]
    pub public: Option<SocketAddr>,
    /// The listener for the operator's console and API. Only portal-api has it. If unset, they are at its public listener.
    #[schemars(title = "address:port")]
    pub operator: Option<SocketAddr>,
    /// The listener for the other services, which send the internal token.
    #[schemars(title = "address:port", example = "0.0.0.0:8180")]
    pub internal: SocketAddr,
    /// A second listener for the other services, with TLS. It needs `WAYBILL_HTTP__INTERNAL_CERTIFICATE`.
    #[schemars(title = "address:port")]
    pub internal_tls: Option<SocketAddr>,
    /// The folder with the certificate `tls.crt` and the key `tls.key` of `WAYBILL_HTTP__INTERNAL_TLS`, in PEM, such as a
    /// mounted Secret of cert-manager. Changes of these files need no restart.
    #[schemars(title = "folder")]
    pub internal_certificate: Option<PathBuf>,
    /// The listener for the platform: health and metrics.
    #[schemars(title = "address:port", example = "0.0.0.0:9090")]
    pub management: SocketAddr,
}

impl Http {
    /// Reports errors in this section.
    pub fn check(&self, errors: &mut SettingErrors) {
        if self.internal_tls.is_some() != self.internal_certificate.is_some() {
            errors.add(
                "WAYBILL_HTTP__INTERNAL_TLS",
                "needs WAYBILL_HTTP__INTERNAL_CERTIFICATE; set both or neither",
            );
        }
    }
}

/// The other services' internal listeners (`WAYBILL_PEERS__…`). A service reads those that it calls.
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
    /// For `https://` URLs: the certificates of the other services' authorities, in PEM. Without it, the system's
    /// authorities are trusted. `WAYBILL_PEERS__CA_FILE` can name a file with them instead. They are read at the start.
    #[schemars(title = "certificates")]
    pub ca: Option<Certificates>,
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
            ca: None,
        }
    }
}

/// The operator's brand (`WAYBILL_BRAND__…`).
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
    /// Reports errors in this section.
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

/// Kinds of events that not every release knows (`WAYBILL_EVENTS__…`).
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Events {
    /// Whether the request for another attempt, or for a return, is an event: `order.reattempt_scheduled` and
    /// `order.returning`. Switch it on for these services at once, when all instances run this release. Release 1.0.0 cannot
    /// read such events: do not roll back to it afterwards.
    pub attempts: bool,
}

/// The format of log lines.
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
    /// The format of log lines: for machines or for people.
    pub format: LogFormat,
    /// The log filter, in the syntax of `RUST_LOG`: for example `info,wallet=debug`.
    pub filter: String,
    /// The OTLP/HTTP collector for traces. Without it, no traces are sent.
    pub otlp_endpoint: Option<Url>,
    /// The share of the traces started here that is sent, from 0 to 1. For a received trace context, the caller has
    /// decided.
    pub sampling_ratio: f64,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self {
            format: LogFormat::Json,
            // The `messaging` crate logs lost connections itself, in place of lapin.
            // Malformed requests are callers' errors, but actix-http logs them as errors.
            // The library of passkeys logs what browsers send; the reason of a refusal is in our own lines.
            filter: "info,lapin=off,actix_http=off,webauthn_rs=off,webauthn_rs_core=off".into(),
            otlp_endpoint: None,
            sampling_ratio: 1.0,
        }
    }
}

impl Telemetry {
    /// Reports errors in this section.
    pub fn check(&self, errors: &mut SettingErrors) {
        if !(0.0..=1.0).contains(&self.sampling_ratio) {
            errors.add("WAYBILL_TELEMETRY__SAMPLING_RATIO", "must be between 0 and 1");
        }
    }
}
