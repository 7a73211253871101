//! The settings of webhook-dispatcher.

use std::time::Duration;

use chassis::{Sections, ServiceSettings};
use chrono::TimeDelta;
use outbound::{AddressRanges, NameServers, Policy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{
    Brand, Broker, Database, Environment, Events, Http, Internal, Secret, SettingErrors, Telemetry,
};

use crate::domain::{EncryptionKey, EncryptionKeys, InvalidKey, RetrySchedule};
use crate::sender::{InvalidProxy, ProxyAddress};

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Settings {
    /// Where this runs. `production` refuses published default secrets and settings that are for local use only.
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
    pub events: Events,
    #[serde(default)]
    pub secrets: Secrets,
    #[serde(default)]
    pub webhooks: Webhooks,
    #[serde(default)]
    pub telemetry: Telemetry,
}

/// Encryption of signing secrets at rest (`WAYBILL_SECRETS__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Secrets {
    /// The key that encrypts signing secrets: base64 of 32 bytes, as from `openssl rand -base64 32`; in a local stack,
    /// any text that begins with `local-`. All instances need the same key. Without it, or with it missing from the
    /// previous keys after a change, no webhook can be signed.
    pub key: Secret,
    /// Previous keys, separated by commas. They only decrypt. To change the key: add the new key as a previous one on
    /// all instances; make it the key, and the old one a previous key; run `webhook-dispatcher rewrap`; remove the old
    /// key.
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

/// Sending of webhooks (`WAYBILL_WEBHOOKS__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Webhooks {
    /// Concurrent webhooks per process. Test orders get at most half of them, and no business gets more than are left
    /// free. A quarter of both is for endpoints that respond within a second.
    #[schemars(range(min = 1, max = 1_000))]
    pub concurrency: usize,
    /// Concurrent webhooks to one endpoint, up to the concurrency. An endpoint starts with 8 and gets more as it
    /// responds.
    pub per_endpoint: usize,
    /// Webhooks per second to one endpoint, unless its owner set `maxPerSecond`. Both limits apply to all instances
    /// together and on average: a single second may see twice as many, or one of each instance if that is more. One half is
    /// for new webhooks, and all instances have an equal part of it. The other half is for what waits, and the instance
    /// that the endpoint prefers has it. For 4 s after an instance is killed, its part is not used.
    #[schemars(range(min = 1, max = 100_000))]
    pub per_second: u32,
    /// How long an event that its endpoint refuses, while it accepts others, blocks the later events of its order.
    #[schemars(range(min = 1, max = 86_400))]
    pub step_aside_seconds: u32,
    /// How long an endpoint may only fail before it is disabled.
    #[schemars(range(min = 1, max = 31_536_000))]
    pub disable_after_seconds: u32,
    /// How often the sweeper runs: it parks, replays, discards and skips deliveries, and disables failing endpoints.
    #[schemars(range(min = 0.1, max = 60.0))]
    pub sweep_seconds: f64,
    /// How long the log is kept: attempts, completed deliveries, and their events.
    #[schemars(range(min = 1, max = 3_650))]
    pub retention_days: u32,
    /// The time limit of an attempt, from the DNS lookup to the last byte of the response.
    #[schemars(range(min = 0.1, max = 30.0))]
    pub timeout_seconds: f64,
    /// The delays before the second, third, … attempt in seconds, separated by commas: up to 50, each at most a week.
    pub retry_seconds: RetrySchedule,
    /// Whether endpoints may have plain `http` URLs.
    pub allow_http: bool,
    /// Confirms that plain `http` is intended in production.
    pub allow_http_in_production: bool,
    /// Private address ranges that webhooks may be sent to, as `10.1.0.0/16, fd00::/8`.
    pub allowed_ranges: AddressRanges,
    /// Name servers that resolve endpoints, as `10.0.0.2, [2001:db8::1]:5353`; by default those of `/etc/resolv.conf`.
    /// Its search list is not used, and nothing is cached.
    pub name_servers: NameServers,
    /// The HTTP proxy that opens the connections of all webhooks (`CONNECT`), as `http://user:password@proxy.example:3128`;
    /// the credentials are optional. It is asked for the address that an endpoint's name has, never for the name.
    #[schemars(length(min = 10))]
    pub proxy: Option<Secret>,
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
            proxy: None,
        }
    }
}

impl Secrets {
    /// # Errors
    /// When a setting is not a key.
    pub(crate) fn keys(&self) -> Result<EncryptionKeys, InvalidKey> {
        Ok(EncryptionKeys {
            current: EncryptionKey::parse(self.key.expose())?,
            previous: EncryptionKey::parse_list(self.previous_keys.expose())?,
        })
    }
}

impl Webhooks {
    pub fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_seconds)
    }

    pub fn policy(&self) -> Policy {
        Policy { allow_http: self.allow_http, allowed_ranges: self.allowed_ranges.clone() }
    }

    /// # Errors
    /// When the setting is not the address of a proxy.
    pub(crate) fn proxy(&self) -> Result<Option<ProxyAddress>, InvalidProxy> {
        self.proxy.as_ref().map(|address| ProxyAddress::parse(address.expose())).transpose()
    }

    pub(crate) fn sweep_interval(&self) -> Duration {
        Duration::from_secs_f64(self.sweep_seconds)
    }

    pub(crate) fn skip_after(&self) -> TimeDelta {
        TimeDelta::seconds(self.step_aside_seconds.into())
    }

    pub(crate) fn disable_after(&self) -> TimeDelta {
        TimeDelta::seconds(self.disable_after_seconds.into())
    }

    fn check(&self, environment: Environment, errors: &mut SettingErrors) {
        if !(1..=self.concurrency).contains(&self.per_endpoint) {
            errors.add("WAYBILL_WEBHOOKS__PER_ENDPOINT", "must be between 1 and the concurrency");
        }
        if let Err(error) = self.proxy() {
            errors.add("WAYBILL_WEBHOOKS__PROXY", error.to_string());
        }
        if environment == Environment::Production && self.allow_http && !self.allow_http_in_production {
            let error = "sends webhooks unencrypted, which production refuses; to allow it, also set \
                         WAYBILL_WEBHOOKS__ALLOW_HTTP_IN_PRODUCTION=true";
            errors.add("WAYBILL_WEBHOOKS__ALLOW_HTTP", error);
        }
    }
}

impl settings::Settings for Settings {
    fn check(&self, errors: &mut SettingErrors) {
        self.sections().check(errors);
        self.brand.check(errors);
        self.webhooks.check(self.environment, errors);
        if let Err(error) = EncryptionKey::parse(self.secrets.key.expose()) {
            errors.add("WAYBILL_SECRETS__KEY", error.to_string());
        }
        if let Err(error) = EncryptionKey::parse_list(self.secrets.previous_keys.expose()) {
            errors.add("WAYBILL_SECRETS__PREVIOUS_KEYS", format!("each {error}"));
        }
    }
}

impl ServiceSettings for Settings {
    const SERVICE: &'static str = "webhook-dispatcher";
    /// A backlog is sent a quarter faster.
    const HAS_ONE_THREAD: bool = false;

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
            ("WAYBILL_WEBHOOKS__PROXY", "socks5://user:a-password@proxy.example:1080"),
        ] {
            let refused = load(&[(variable, value)]).unwrap_err();
            assert!(refused.contains(variable) && !refused.contains("a-password"), "{refused}");
        }
        assert!(load(&[("WAYBILL_WEBHOOKS__ALLOWED_RANGES", "everything")]).is_err());
        assert!(load(&[("WAYBILL_WEBHOOKS__RETRY_SECONDS", "soon")]).is_err());
    }
}
