//! What webhook-dispatcher is told at its start.

use std::time::Duration;

use chassis::{Sections, ServiceSettings};
use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Brand, Broker, Database, Environment, Http, Internal, Secret, SettingErrors, Telemetry};

use crate::domain::{AddressRanges, NameServers, Policy, RetrySchedule};
use crate::secrets::SecretBox;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Settings {
    /// Where this runs. `production` refuses every published default secret and whatever else is for trying out alone.
    #[serde(default)]
    pub environment: Environment,
    pub database: Database,
    pub broker: Broker,
    pub http: Http,
    #[serde(default)]
    pub internal: Internal,
    #[serde(default)]
    pub brand: Brand,
    #[serde(default)]
    pub secrets: Secrets,
    #[serde(default)]
    pub webhooks: Webhooks,
    #[serde(default)]
    pub telemetry: Telemetry,
}

/// How signing secrets are kept (`WAYBILL_SECRETS__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Secrets {
    /// Base64 of the 32 bytes that signing secrets are encrypted with; or, in a local stack, any text that begins with
    /// `local-`; as `openssl rand -base64 32` makes them; the same for all instances. With another key no webhook can be signed any more, unless this one is among the previous.
    pub key: Secret,
    /// Former keys, separated by commas, which only open what they encrypted. To change the key: give the new one to all
    /// instances as a previous one; then make it the key, and the old one previous; run `webhook-dispatcher rewrap`; then
    /// leave the old one out.
    pub previous_keys: Secret,
}

impl Default for Secrets {
    fn default() -> Self {
        Self {
            key: Secret::new("local-key-for-signing-secrets-of-the-local-stack"),
            previous_keys: Secret::new(""),
        }
    }
}

/// How webhooks are sent (`WAYBILL_WEBHOOKS__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Webhooks {
    /// How many webhooks one process sends at once. Test orders have half of them at most, and no business has more than are
    /// left free.
    #[schemars(range(min = 1, max = 1_000))]
    pub concurrency: usize,
    /// How many of those may go to one endpoint, up to the concurrency. It begins with 8, and gets more as it answers.
    pub per_endpoint: usize,
    /// How many webhooks per second go to one endpoint whose owner set no `maxPerSecond`. Either limit holds for each running
    /// instance, on average: up to twice as many may go in a single second.
    #[schemars(range(min = 1, max = 100_000))]
    pub per_second: u32,
    /// How long an event that its endpoint does not take, while it takes others, holds up later ones of its order.
    #[schemars(range(min = 1, max = 86_400))]
    pub step_aside_seconds: u32,
    /// How long an endpoint may only fail before it is disabled.
    #[schemars(range(min = 1, max = 31_536_000))]
    pub disable_after_seconds: u32,
    /// How often the sweeper looks for what nobody else comes by.
    #[schemars(range(min = 0.1, max = 60.0))]
    pub sweep_seconds: f64,
    /// How long the log is kept: attempts, deliveries that are over, and their events.
    #[schemars(range(min = 1, max = 3_650))]
    pub retention_days: u32,
    /// The time limit of an attempt, from the look-up of the name to the last byte of the answer.
    #[schemars(range(min = 0.1, max = 30.0))]
    pub timeout_seconds: f64,
    /// The waits before the second, third, … attempt, in seconds, separated by commas: up to 50, none longer than a week.
    pub retry_seconds: RetrySchedule,
    /// Whether endpoints may have plain `http` URLs.
    pub allow_http: bool,
    /// The operator's word that plain `http` is wanted in production as well.
    pub allow_http_in_production: bool,
    /// Ranges outside the public internet that webhooks may be sent to, as `10.1.0.0/16, fd00::/8`.
    pub allowed_ranges: AddressRanges,
    /// Who is asked where endpoints are, as `10.0.0.2, [2001:db8::1]:5353`; those of `/etc/resolv.conf` when left out. Names
    /// are looked up as they stand, without its search list, and nothing is kept.
    pub name_servers: NameServers,
}

impl Default for Webhooks {
    fn default() -> Self {
        Self {
            concurrency: 512,
            per_endpoint: 64,
            per_second: 5_000,
            step_aside_seconds: 300,
            disable_after_seconds: 5 * 86_400,
            sweep_seconds: 5.0,
            retention_days: 30,
            timeout_seconds: 10.0,
            retry_seconds: RetrySchedule::default(),
            allow_http: false,
            allow_http_in_production: false,
            allowed_ranges: AddressRanges::default(),
            name_servers: NameServers::default(),
        }
    }
}

/// How long the sweeper lets things be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Between two rounds.
    pub sweep: Duration,
    /// With an event that holds up its order.
    pub step_aside: TimeDelta,
    /// With an endpoint that only fails.
    pub disable: TimeDelta,
}

impl Webhooks {
    pub fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_seconds)
    }

    pub fn policy(&self) -> Policy {
        Policy { allow_http: self.allow_http, allowed_ranges: self.allowed_ranges.clone() }
    }

    pub(crate) fn patience(&self) -> Patience {
        Patience {
            sweep: Duration::from_secs_f64(self.sweep_seconds),
            step_aside: TimeDelta::seconds(self.step_aside_seconds.into()),
            disable: TimeDelta::seconds(self.disable_after_seconds.into()),
        }
    }

    fn check(&self, environment: Environment, errors: &mut SettingErrors) {
        if !(1..=self.concurrency).contains(&self.per_endpoint) {
            errors.add("WAYBILL_WEBHOOKS__PER_ENDPOINT", "must be between 1 and the concurrency");
        }
        if environment == Environment::Production && self.allow_http && !self.allow_http_in_production {
            let error = "sends webhooks unencrypted, which production refuses; if that is really wanted, set \
                         WAYBILL_WEBHOOKS__ALLOW_HTTP_IN_PRODUCTION=true as well";
            errors.add("WAYBILL_WEBHOOKS__ALLOW_HTTP", error);
        }
    }
}

impl settings::Settings for Settings {
    fn check(&self, errors: &mut SettingErrors) {
        self.sections().check(errors);
        self.brand.check(errors);
        self.webhooks.check(self.environment, errors);
        let (some, none) = (Secrets::default().key, Secret::new(""));
        if let Err(error) = SecretBox::new(&self.secrets.key, &none) {
            errors.add("WAYBILL_SECRETS__KEY", error.to_string());
        }
        if let Err(error) = SecretBox::new(&some, &self.secrets.previous_keys) {
            errors.add("WAYBILL_SECRETS__PREVIOUS_KEYS", format!("each {error}"));
        }
    }
}

impl ServiceSettings for Settings {
    const SERVICE: &'static str = "webhook-dispatcher";

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

#[cfg(test)]
mod tests {
    use super::*;

    fn load(extra: &[(&str, &str)]) -> Result<Settings, String> {
        let required = [
            ("WAYBILL_DATABASE__URL", "postgres://webhooks@127.0.0.1/webhooks"),
            ("WAYBILL_BROKER__URL", "amqp://127.0.0.1/waybill"),
            ("WAYBILL_HTTP__INTERNAL", "127.0.0.1:0"),
            ("WAYBILL_HTTP__MANAGEMENT", "127.0.0.1:0"),
        ];
        let all = required.iter().chain(extra).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        settings::load_from(all.collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_suit_a_local_stack_and_allow_nothing_private() {
        let settings = load(&[]).unwrap();
        assert_eq!(settings.webhooks.timeout(), Duration::from_secs(10));
        assert!(!settings.webhooks.policy().allow_http);
        assert!(!settings.webhooks.policy().allows("127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn the_environment_is_read() {
        let settings = load(&[
            ("WAYBILL_WEBHOOKS__ALLOW_HTTP", "true"),
            ("WAYBILL_WEBHOOKS__ALLOWED_RANGES", "127.0.0.0/8,::1/128"),
            ("WAYBILL_WEBHOOKS__RETRY_SECONDS", "0.1,0.2"),
            ("WAYBILL_WEBHOOKS__CONCURRENCY", "4"),
            ("WAYBILL_WEBHOOKS__PER_ENDPOINT", "2"),
            ("WAYBILL_WEBHOOKS__TIMEOUT_SECONDS", "1.5"),
        ])
        .unwrap();
        assert!(settings.webhooks.policy().allow_http);
        assert!(settings.webhooks.policy().allows("127.1.2.3".parse().unwrap()));
        assert_eq!(settings.webhooks.retry_seconds, RetrySchedule::try_from("0.1,0.2".to_owned()).unwrap());
        assert_eq!((settings.webhooks.concurrency, settings.webhooks.per_endpoint), (4, 2));
        assert_eq!(settings.webhooks.timeout(), Duration::from_millis(1_500));
    }

    #[test]
    fn production_wants_a_key_of_its_own_and_https() {
        let production = ("WAYBILL_ENVIRONMENT", "production");
        let http = ("WAYBILL_WEBHOOKS__ALLOW_HTTP", "true");
        let refused = load(&[production, http]).unwrap_err();
        for variable in ["WAYBILL_SECRETS__KEY", "WAYBILL_INTERNAL__TOKEN", "WAYBILL_WEBHOOKS__ALLOW_HTTP:"] {
            assert!(refused.contains(variable), "{variable} is missing in: {refused}");
        }
        let key = ("WAYBILL_SECRETS__KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
        let token = ("WAYBILL_INTERNAL__TOKEN", "a token of one's own");
        let sure = ("WAYBILL_WEBHOOKS__ALLOW_HTTP_IN_PRODUCTION", "true");
        assert!(load(&[production, key, token]).is_ok());
        assert!(load(&[production, key, token, http, sure]).is_ok());
    }

    #[test]
    fn unusable_values_are_named() {
        for (variable, value) in [
            ("WAYBILL_SECRETS__KEY", "short"),
            ("WAYBILL_SECRETS__KEY", "AAECAwQ="),
            ("WAYBILL_SECRETS__PREVIOUS_KEYS", "local-former,AAECAwQ="),
            ("WAYBILL_WEBHOOKS__CONCURRENCY", "0"),
            ("WAYBILL_WEBHOOKS__PER_ENDPOINT", "513"),
            ("WAYBILL_WEBHOOKS__PER_SECOND", "0"),
            ("WAYBILL_WEBHOOKS__STEP_ASIDE_SECONDS", "0"),
            ("WAYBILL_WEBHOOKS__DISABLE_AFTER_SECONDS", "0"),
            ("WAYBILL_WEBHOOKS__SWEEP_SECONDS", "0"),
            ("WAYBILL_WEBHOOKS__TIMEOUT_SECONDS", "0"),
            ("WAYBILL_WEBHOOKS__RETENTION_DAYS", "0"),
        ] {
            let refused = load(&[(variable, value)]).unwrap_err();
            assert!(refused.contains(variable), "{refused}");
        }
        assert!(load(&[("WAYBILL_WEBHOOKS__ALLOWED_RANGES", "everything")]).is_err());
        assert!(load(&[("WAYBILL_WEBHOOKS__RETRY_SECONDS", "soon")]).is_err());
    }
}
