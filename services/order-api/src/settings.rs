//! What order-api is told at its start.

use std::num::NonZeroU32;

use chassis::{Sections, ServiceSettings};
use serde::Deserialize;
use settings::{
    Brand, Broker, Database, Environment, Faults, Http, Internal, Peers, Secret, Settings, Telemetry,
    TrustedProxies,
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
    #[serde(default)]
    pub limits: Limits,
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

/// What one API key may do, and one address without a key, at each replica (`WAYBILL_LIMITS__…`).
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Sustained.
    pub requests_per_second: NonZeroU32,
    /// At once, after a pause; four seconds' worth when left out.
    pub burst: Option<NonZeroU32>,
    /// Whether tracking, and showing keys that are not good, are limited per address.
    pub per_address: bool,
    /// So many keys and tokens that are not good an address may show at once, and one more each second.
    pub failed_authentications: NonZeroU32,
    /// The operator's own proxies in front, which append their caller to `X-Forwarded-For`.
    pub trusted_proxies: TrustedProxies,
}

impl Limits {
    const DEFAULT_RATE: NonZeroU32 = NonZeroU32::new(50).unwrap();
    const DEFAULT_FAILURES: NonZeroU32 = NonZeroU32::new(60).unwrap();
    const BURST_SECONDS: NonZeroU32 = NonZeroU32::new(4).unwrap();
    /// More than a machine answers; within it no quota overflows.
    const MAX: u32 = 1_000_000;

    pub fn burst(&self) -> NonZeroU32 {
        self.burst.unwrap_or_else(|| self.requests_per_second.saturating_mul(Self::BURST_SECONDS))
    }

    /// `None` when limits per address are lifted.
    pub fn failures_at_once(&self) -> Option<NonZeroU32> {
        self.per_address.then_some(self.failed_authentications)
    }

    fn check(&self, faults: &mut Faults) {
        let limits = [
            ("WAYBILL_LIMITS__REQUESTS_PER_SECOND", Some(self.requests_per_second)),
            ("WAYBILL_LIMITS__BURST", self.burst),
            ("WAYBILL_LIMITS__FAILED_AUTHENTICATIONS", Some(self.failed_authentications)),
        ];
        for (variable, limit) in limits {
            if limit.is_some_and(|limit| limit.get() > Self::MAX) {
                faults.add(variable, format!("must be at most {}", Self::MAX));
            }
        }
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

impl Settings for OrderApiSettings {
    fn check(&self, faults: &mut Faults) {
        self.sections().check(faults);
        self.brand.check(faults);
        self.limits.check(faults);
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
