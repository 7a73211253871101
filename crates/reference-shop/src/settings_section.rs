//! The settings of a shop, from the environment (`WAYBILL_BASE_URL`, `WAYBILL_API_KEY`, …) or from code.

use std::time::Duration;

use domain::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Database, Secret, SettingErrors, Settings};
use url::Url;
use waybill_client::webhooks::Secrets;

/// The settings of one shop. [`ShopSettings::new`] fills in the defaults.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ShopSettings {
    /// The shop's own database.
    pub database: Database,
    /// The delivery service's integration API; ends with `/v1`.
    #[schemars(example = "https://delivery.example/v1")]
    pub base_url: Url,
    /// A Test key or a Live key. Keep it in the backend.
    #[schemars(example = &"sk_test_waybill_0123456789")]
    pub api_key: Secret,
    /// The signing secret of the webhook endpoint. Without it, every webhook gets 401.
    #[serde(default)]
    pub webhook_secret: Option<Secret>,
    /// The website's name, the first part of each Idempotency-Key. It must not change while orders are open.
    #[serde(default = "default_name")]
    pub name: String,
    /// The `Service` of `Service-Timestamp` and `Service-Signature`.
    #[serde(default = "default_header_prefix")]
    pub header_prefix: String,
    /// The modes whose webhooks are applied; others are only stored. Use `live` alone in production, because test and
    /// live orders may have the same reference.
    #[serde(default)]
    pub modes: Modes,
    /// The time limit for connecting, sending and reading the whole response.
    #[serde(default = "default_request_timeout_seconds")]
    #[schemars(range(min = 1, max = 60))]
    pub request_timeout_seconds: u32,
    /// After this time, an attempt without a result counts as crashed and may be resumed.
    #[serde(default = "default_lease_seconds")]
    pub lease_seconds: u32,
    /// The largest difference between a webhook's timestamp and the shop's clock.
    #[serde(default = "default_tolerance_seconds")]
    #[schemars(range(min = 1, max = 3_600))]
    pub tolerance_seconds: u32,
}

/// A set of modes. The environment variable has the form `live` or `live,test`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub struct Modes(Vec<Mode>);

impl Modes {
    pub fn new(modes: impl IntoIterator<Item = Mode>) -> Self {
        Self(modes.into_iter().collect())
    }

    pub fn contains(&self, mode: Mode) -> bool {
        self.0.contains(&mode)
    }
}

impl Default for Modes {
    fn default() -> Self {
        Self::new([Mode::Live])
    }
}

impl TryFrom<String> for Modes {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let modes = text.split(',').map(|mode| mode.trim().parse());
        modes.collect::<Result<_, _>>().map(Self).map_err(|_| "modes are `live`, `test` or `live,test`")
    }
}

impl From<Modes> for String {
    fn from(modes: Modes) -> Self {
        settings::comma_separated(modes.0)
    }
}

impl ShopSettings {
    /// Settings with all defaults.
    pub fn new(database_url: impl Into<String>, base_url: Url, api_key: Secret) -> Self {
        Self {
            database: Database { url: Secret::new(database_url), pool_size: 8 },
            base_url,
            api_key,
            webhook_secret: None,
            name: default_name(),
            header_prefix: default_header_prefix(),
            modes: Modes::default(),
            request_timeout_seconds: default_request_timeout_seconds(),
            lease_seconds: default_lease_seconds(),
            tolerance_seconds: default_tolerance_seconds(),
        }
    }

    pub(crate) fn request_timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.request_timeout_seconds))
    }

    pub(crate) fn lease(&self) -> Duration {
        Duration::from_secs(u64::from(self.lease_seconds))
    }
}

impl Settings for ShopSettings {
    fn check(&self, errors: &mut SettingErrors) {
        self.database.check(errors);
        if !matches!(self.base_url.scheme(), "http" | "https") {
            errors.add("WAYBILL_BASE_URL", "must be an http or https URL");
        }
        if !self.base_url.path().trim_end_matches('/').ends_with("/v1") {
            errors.add("WAYBILL_BASE_URL", "must end with /v1");
        }
        if waybill_client::Mode::of_key(self.api_key.expose()).is_err() {
            errors.add("WAYBILL_API_KEY", "must be the whole API key and nothing else");
        }
        if let Some(secret) = &self.webhook_secret
            && Secrets::new([secret.expose()]).is_err()
        {
            errors.add("WAYBILL_WEBHOOK_SECRET", "must be the whole signing secret, whsec_ included");
        }
        if !visible_ascii(&self.name, 1..=64) {
            errors.add("WAYBILL_NAME", "must be 1 to 64 visible ASCII characters");
        }
        let prefix = &self.header_prefix;
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            errors.add("WAYBILL_HEADER_PREFIX", "must be ASCII letters, digits and hyphens");
        }
        // A lease that ends before its request would allow a second request at the same time.
        if self.lease_seconds < self.request_timeout_seconds.saturating_mul(2) || self.lease_seconds > 3_600 {
            errors
                .add("WAYBILL_LEASE_SECONDS", "must be at least twice the request timeout and at most 3600");
        }
    }
}

/// Whether the text has this length and only characters that a header and an id may contain.
pub(crate) fn visible_ascii(text: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn default_name() -> String {
    "shop".into()
}

fn default_header_prefix() -> String {
    "Service".into()
}

fn default_request_timeout_seconds() -> u32 {
    10
}

fn default_lease_seconds() -> u32 {
    60
}

fn default_tolerance_seconds() -> u32 {
    300
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn load(extra: &[(&str, &str)]) -> Result<ShopSettings, String> {
        let mut variables: HashMap<String, String> = [
            ("WAYBILL_DATABASE__URL", "postgres://shop@127.0.0.1/shop"),
            ("WAYBILL_BASE_URL", "http://127.0.0.1:8080/v1"),
            ("WAYBILL_API_KEY", "sk_test_waybill_x"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        variables.extend(extra.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        settings::load_from(variables).map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_suit_production() {
        let settings = load(&[]).unwrap();
        assert_eq!(settings.modes, Modes::new([Mode::Live]));
        assert_eq!((settings.request_timeout_seconds, settings.lease_seconds), (10, 60));
        assert!(!format!("{settings:?}").contains("sk_test"));
    }

    #[test]
    fn all_settings_come_from_the_environment() {
        let settings = load(&[
            ("WAYBILL_MODES", "live, test"),
            ("WAYBILL_WEBHOOK_SECRET", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
            ("WAYBILL_LEASE_SECONDS", "30"),
        ])
        .unwrap();
        assert!(settings.modes.contains(Mode::Test) && settings.modes.contains(Mode::Live));
        assert!(settings.webhook_secret.is_some());
        assert_eq!(settings.lease_seconds, 30);
    }

    #[test]
    fn every_error_is_named() {
        let errors = load(&[
            ("WAYBILL_BASE_URL", "http://127.0.0.1:8080/"),
            ("WAYBILL_API_KEY", "sk_test with a space"),
            ("WAYBILL_WEBHOOK_SECRET", "whsec_cut"),
            ("WAYBILL_NAME", "my shop"),
            ("WAYBILL_LEASE_SECONDS", "19"),
        ])
        .unwrap_err();
        for variable in ["BASE_URL", "API_KEY", "WEBHOOK_SECRET", "NAME", "LEASE_SECONDS"] {
            assert!(errors.contains(&format!("WAYBILL_{variable}:")), "{variable} in {errors}");
        }
        assert!(load(&[("WAYBILL_MODES", "real")]).unwrap_err().contains("modes are"));
    }
}
