//! The settings of order-api.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use chassis::{Sections, ServiceSettings};
use chrono::TimeDelta;
use domain::{DeliveryState, Paise};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{
    Brand, Broker, Database, Environment, Events, Http, Internal, Networks, Peers, Secret, SettingErrors,
    Settings, Telemetry, Tokens,
};
use url::Url;

use crate::domain::{AttemptRules, Patience};
use crate::rate_limits::KeyRate;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct OrderApiSettings {
    /// Where this runs. `production` refuses published default secrets and settings that are for local use only.
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
    pub docs: Docs,
    #[serde(default)]
    pub fleet: Fleet,
    #[serde(default)]
    pub delivery: Delivery,
    #[serde(default)]
    pub events: Events,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub personal_data: PersonalData,
}

/// The public addresses (`WAYBILL_PUBLIC__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Public {
    /// The origin of tracking links.
    #[schemars(example = "https://delivery.example", transform = settings::origin)]
    pub url: Url,
    /// The origin of the portal, which the documentation of the API links to.
    #[serde(default)]
    #[schemars(transform = settings::origin)]
    pub portal_url: Option<Url>,
}

/// The documentation of the API (`WAYBILL_DOCS__…`).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Docs {
    /// The folder of the packages for integrators, which `/docs/downloads` serves; the container image sets it. If unset,
    /// empty or unreadable, that page refers integrators to you: `make sdk` packs them.
    pub downloads: Option<PathBuf>,
    /// The folder of the built documentation, which `/docs/` serves; the container image sets it. If unset or unreadable,
    /// only the downloads and `/v1/openapi.json` are served.
    pub site: Option<PathBuf>,
}

/// The driver system (`WAYBILL_FLEET__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Fleet {
    /// The token of the driver system, at least 16 characters.
    pub token: Secret,
    /// The token before it, which is accepted as well, so that the driver system can change to the new one at any time.
    pub previous_token: Option<Secret>,
}

impl Default for Fleet {
    fn default() -> Self {
        Self { token: Secret::new("local-fleet-token-of-the-local-stack"), previous_token: None }
    }
}

impl Fleet {
    pub fn tokens(&self) -> Tokens {
        Tokens::new(&self.token, self.previous_token.as_ref())
    }
}

/// The rules of deliveries (`WAYBILL_DELIVERY__…`).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Delivery {
    /// How often a parcel that was picked up is brought to the customer. 1 allows no attempt after a failed one.
    #[schemars(range(min = 1, max = 10))]
    pub attempts_max: u32,
    /// What another attempt that a business asks for takes from its wallet when it begins, in paise. The business sees it before
    /// it asks.
    #[schemars(with = "i64", range(min = 0, max = Paise::REQUEST_MAX.get()))]
    pub reattempt_fee_paise: Paise,
    /// Minutes without a driver after which the portal says that an order needs attention.
    #[schemars(range(min = 1, max = 10_080))]
    pub unassigned_after_minutes: u32,
    /// Minutes without a report about a parcel on its way after which the portal says that an order needs attention.
    #[schemars(range(min = 1, max = 10_080))]
    pub silent_after_minutes: u32,
}

impl Default for Delivery {
    fn default() -> Self {
        Self {
            attempts_max: DeliveryState::ATTEMPTS_MAX_DEFAULT,
            reattempt_fee_paise: Paise::ZERO,
            unassigned_after_minutes: 30,
            silent_after_minutes: 240,
        }
    }
}

impl Delivery {
    pub fn attempts(&self) -> AttemptRules {
        AttemptRules { max: self.attempts_max, reattempt_fee: self.reattempt_fee_paise }
    }

    pub fn patience(&self) -> Patience {
        Patience {
            unassigned: TimeDelta::minutes(self.unassigned_after_minutes.into()),
            silent: TimeDelta::minutes(self.silent_after_minutes.into()),
        }
    }
}

/// Rate limits of API keys and client addresses, per replica (`WAYBILL_LIMITS__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// Sustained requests per second of one API key at one instance.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub requests_per_second: NonZeroU32,
    /// Requests of one API key at once, after a pause. The default is four seconds' worth.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub burst: Option<NonZeroU32>,
    /// Whether tracking and failed authentications are limited per client address.
    pub per_address: bool,
    /// How many invalid keys or tokens a client address may send to one instance at once; one more is allowed each second.
    /// Valid ones are always accepted.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub failed_authentications: NonZeroU32,
    /// The reverse proxies, as networks or addresses separated by commas (`10.0.0.0/8,192.0.2.7`). `X-Forwarded-For` is
    /// trusted only from them: it is read from its end up to the first address that is not a proxy.
    pub trusted_proxies: Networks,
}

impl Limits {
    const DEFAULT_FAILURES: NonZeroU32 = NonZeroU32::new(60).unwrap();

    pub fn key_rate(&self) -> KeyRate {
        KeyRate::new(self.requests_per_second, self.burst)
    }

    /// `None` without limits per address.
    pub fn failures_at_once(&self) -> Option<NonZeroU32> {
        self.per_address.then_some(self.failed_authentications)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_second: KeyRate::DEFAULT_PER_SECOND,
            burst: None,
            per_address: true,
            failed_authentications: Self::DEFAULT_FAILURES,
            trusted_proxies: Networks::default(),
        }
    }
}

/// Retention of personal data (`WAYBILL_PERSONAL_DATA__…`).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct PersonalData {
    /// Days after its last change after which the personal data of a completed order, or of a test order in any state,
    /// is erased. 0 disables automatic erasure.
    #[schemars(range(min = 0, max = 3_650))]
    pub retention_days: u32,
    /// Seconds between two runs of automatic erasure at one instance.
    #[schemars(range(min = 0.1, max = 3_600))]
    pub interval_seconds: f64,
}

impl Default for PersonalData {
    fn default() -> Self {
        Self { retention_days: 180, interval_seconds: 60.0 }
    }
}

impl PersonalData {
    /// `None` without automatic erasure.
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
        self.fleet.tokens().check("WAYBILL_FLEET__PREVIOUS_TOKEN", errors);
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
