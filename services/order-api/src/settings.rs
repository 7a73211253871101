//! What order-api is told at its start.

use chassis::{Sections, ServiceSettings};
use serde::Deserialize;
use settings::{
    Brand, Broker, Database, Environment, Faults, Http, Internal, Peers, Secret, Settings, Telemetry,
};
use url::Url;

#[derive(Clone, Debug, Deserialize)]
pub struct OrderApiSettings {
    #[serde(default)]
    pub environment: Environment,
    pub database: Database,
    pub broker: Broker,
    pub http: Http,
    #[serde(default)]
    pub internal: Internal,
    #[serde(default)]
    pub peers: Peers,
    #[serde(default)]
    pub brand: Brand,
    #[serde(default)]
    pub telemetry: Telemetry,
    pub public: Public,
    #[serde(default)]
    pub fleet: Fleet,
}

/// How the world reaches the public listener (`WAYBILL_PUBLIC__…`).
#[derive(Clone, Debug, Deserialize)]
pub struct Public {
    /// The origin that tracking links begin with.
    pub url: Url,
}

/// The driver system (`WAYBILL_FLEET__…`).
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Fleet {
    pub token: Secret,
}

impl Default for Fleet {
    fn default() -> Self {
        Self { token: Secret::new("local-fleet-token-of-the-local-stack") }
    }
}

impl Settings for OrderApiSettings {
    fn check(&self, faults: &mut Faults) {
        self.sections().check(faults);
        self.brand.check(faults);
        if self.http.public.is_none() {
            faults.add("WAYBILL_HTTP__PUBLIC", "is required: the integration API listens there");
        }
        if !matches!(self.public.url.scheme(), "http" | "https") {
            faults.add("WAYBILL_PUBLIC__URL", "must be an http(s) URL");
        }
        faults.refuse_default_secret("WAYBILL_FLEET__TOKEN", &self.fleet.token, self.environment);
    }
}

impl ServiceSettings for OrderApiSettings {
    const SERVICE: &'static str = "order-api";

    fn sections(&self) -> Sections<'_> {
        Sections {
            environment: self.environment,
            database: &self.database,
            broker: &self.broker,
            http: &self.http,
            internal: &self.internal,
            telemetry: &self.telemetry,
        }
    }
}
