//! What order-api is told at its start.

use std::num::NonZeroU32;
use std::time::Duration;

use chassis::{Sections, ServiceSettings};
use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{
    Brand, Broker, Database, Environment, Http, Internal, Peers, Secret, SettingErrors, Settings, Telemetry,
    TrustedProxies,
};
use url::Url;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct OrderApiSettings {
    /// Where this runs. `production` refuses every published default secret and whatever else is for trying out alone.
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
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub personal_data: PersonalData,
}

/// How the world reaches the public listener (`WAYBILL_PUBLIC__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Public {
    /// The origin that tracking links begin with.
    #[schemars(example = "https://delivery.example", transform = settings::origin)]
    pub url: Url,
    /// The portal's origin, which the API's documentation leads to.
    #[serde(default)]
    #[schemars(transform = settings::origin)]
    pub portal_url: Option<Url>,
}

/// The driver system (`WAYBILL_FLEET__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Fleet {
    /// What the driver system shows when it reports progress, 16 characters or more.
    pub token: Secret,
}

impl Default for Fleet {
    fn default() -> Self {
        Self { token: Secret::new("local-fleet-token-of-the-local-stack") }
    }
}

/// What one API key may do, and one address without a key, at each replica (`WAYBILL_LIMITS__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// Of one API key at one instance, sustained.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub requests_per_second: NonZeroU32,
    /// At once, after a pause; four seconds' worth when left out.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub burst: Option<NonZeroU32>,
    /// Whether tracking, and showing keys that are not good, are limited per address.
    pub per_address: bool,
    /// So many keys or tokens that are not good a client address may show one instance at once, and one more each second.
    /// A good one is served all the same.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub failed_authentications: NonZeroU32,
    /// The proxies in front, as networks or addresses separated by commas (`10.0.0.0/8,192.0.2.7`). Only their word about
    /// the client's address counts: `X-Forwarded-For`, read from its end up to the first address that is none of them.
    pub trusted_proxies: TrustedProxies,
}

impl Limits {
    const DEFAULT_RATE: NonZeroU32 = NonZeroU32::new(50).unwrap();
    const DEFAULT_FAILURES: NonZeroU32 = NonZeroU32::new(60).unwrap();
    const BURST_SECONDS: NonZeroU32 = NonZeroU32::new(4).unwrap();

    pub fn burst(&self) -> NonZeroU32 {
        self.burst.unwrap_or_else(|| self.requests_per_second.saturating_mul(Self::BURST_SECONDS))
    }

    /// `None` when limits per address are lifted.
    pub fn failures_at_once(&self) -> Option<NonZeroU32> {
        self.per_address.then_some(self.failed_authentications)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_second: Self::DEFAULT_RATE,
            burst: None,
            per_address: true,
            failed_authentications: Self::DEFAULT_FAILURES,
            trusted_proxies: TrustedProxies::default(),
        }
    }
}

/// How long orders tell of people (`WAYBILL_PERSONAL_DATA__…`).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct PersonalData {
    /// Days after its last change in which an order that is over still tells of people, a test order wherever it stands; 0
    /// erases nothing by itself.
    #[schemars(range(min = 0, max = 3_650))]
    pub retention_days: u32,
    /// How often an instance looks for orders that are due to be erased of personal data.
    #[schemars(range(min = 0.1, max = 3_600))]
    pub interval_seconds: f64,
}

impl Default for PersonalData {
    fn default() -> Self {
        Self { retention_days: 180, interval_seconds: 60.0 }
    }
}

impl PersonalData {
    /// `None` when nothing is erased by itself.
    pub fn retention(&self) -> Option<TimeDelta> {
        (self.retention_days > 0).then(|| TimeDelta::days(i64::from(self.retention_days)))
    }

    pub fn interval(&self) -> Duration {
        Duration::from_secs_f64(self.interval_seconds)
    }
}

impl Settings for OrderApiSettings {
    fn check(&self, errors: &mut SettingErrors) {
        self.sections().check(errors);
        self.brand.check(errors);
        if self.http.public.is_none() {
            errors.add("WAYBILL_HTTP__PUBLIC", "is required: the integration API listens there");
        }
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
            telemetry: &self.telemetry,
        }
    }
}
