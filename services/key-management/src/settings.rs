//! The settings of key-management.

use chassis::{Sections, ServiceSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Brand, Broker, Database, Environment, Http, Internal, Secret, SettingErrors, Telemetry};

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
    pub keys: Keys,
    #[serde(default)]
    pub telemetry: Telemetry,
}

/// How keys are kept (`WAYBILL_KEYS__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Keys {
    /// The secret that keys are hashed with, 32 bytes or more. Changing it invalidates every issued key.
    #[schemars(length(min = 32))]
    pub pepper: Secret,
}

impl Default for Keys {
    fn default() -> Self {
        Self { pepper: Secret::new("local-pepper-of-the-local-stack-and-nothing-else") }
    }
}

impl settings::Settings for Settings {
    fn check(&self, errors: &mut SettingErrors) {
        self.sections().check(errors);
        self.brand.check(errors);
    }
}

impl ServiceSettings for Settings {
    const SERVICE: &'static str = "key-management";

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

    fn load(extra: &[(&str, &str)]) -> Result<Settings, settings::SettingsError> {
        let required = [
            ("WAYBILL_DATABASE__URL", "postgres://keys@127.0.0.1/keys"),
            ("WAYBILL_BROKER__URL", "amqp://127.0.0.1/waybill"),
            ("WAYBILL_HTTP__INTERNAL", "127.0.0.1:0"),
            ("WAYBILL_HTTP__MANAGEMENT", "127.0.0.1:0"),
        ];
        let all = required.iter().chain(extra).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        settings::load_from(all.collect())
    }

    #[test]
    fn the_defaults_suit_a_local_stack_and_nothing_else() {
        assert_eq!(load(&[]).unwrap().brand.key_segment, "waybill");
        let refused = load(&[("WAYBILL_ENVIRONMENT", "production")]).unwrap_err().to_string();
        assert!(refused.contains("WAYBILL_KEYS__PEPPER"), "{refused}");
        assert!(refused.contains("WAYBILL_INTERNAL__TOKEN"), "{refused}");
    }

    #[test]
    fn each_token_of_a_caller_is_validated() {
        let load = |tokens| load(&[("WAYBILL_INTERNAL__CALLERS__ORDER_API", tokens)]);
        let internal = load("its-own-token-is-new, its-old-token-is-shared").unwrap().internal;
        let expected = [("order-api", "its-own-token-is-new"), ("order-api", "its-old-token-is-shared")];
        assert!(internal.accepted().eq(expected));
        assert!(load("").unwrap().internal.accepted().eq([("shared", internal.token.expose())]));
        for (bad, error) in [
            ("its-own-token-is-new,", "entry 2 is empty"),
            ("its-own-token-is-new,short", "entry 2 must be at least 16 bytes long"),
            ("a,b,c,d", "must be at most 3 secrets"),
        ] {
            let refused = load(bad).unwrap_err().to_string();
            assert!(refused.contains(&format!("WAYBILL_INTERNAL__CALLERS__ORDER_API: {error}")), "{refused}");
        }
    }

    #[test]
    fn a_listener_with_tls_and_its_certificate_need_each_other() {
        let address = ("WAYBILL_HTTP__INTERNAL_TLS", "127.0.0.1:0");
        let folder = ("WAYBILL_HTTP__INTERNAL_CERTIFICATE", "/etc/waybill/internal-tls");
        assert!(load(&[address, folder]).is_ok());
        for alone in [address, folder] {
            assert!(load(&[alone]).unwrap_err().to_string().contains("set both or neither"));
        }
    }

    #[test]
    fn a_short_pepper_is_refused() {
        let refused = load(&[("WAYBILL_KEYS__PEPPER", "salt")]).unwrap_err().to_string();
        assert!(refused.contains("WAYBILL_KEYS__PEPPER: must be at least 32 bytes long"), "{refused}");
    }
}
