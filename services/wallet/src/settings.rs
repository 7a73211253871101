//! The settings of this service.

use chassis::{Sections, ServiceSettings};
use domain::Paise;
use internal_api::orders::PAYMENTS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Broker, Database, Environment, Http, Internal, Peers, Secret, SettingErrors, Telemetry};
use url::Url;

use crate::domain::Provider;

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
    pub telemetry: Telemetry,
    #[serde(default)]
    pub peers: Peers,
    #[serde(default)]
    pub wallet: WalletRules,
    #[serde(default)]
    pub cod: CodRules,
    #[serde(default)]
    pub payments: Payments,
    #[serde(default)]
    pub reconciliation: Reconciliation,
}

/// The operator's rules for wallets (`WAYBILL_WALLET__…`).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct WalletRules {
    /// A balance below this is low, unless the business has set its own threshold. In paise.
    #[schemars(with = "i64", range(min = 0, max = Paise::REQUEST_MAX.get()))]
    pub low_balance_threshold_paise: Paise,
}

impl Default for WalletRules {
    fn default() -> Self {
        Self { low_balance_threshold_paise: Paise::new(50_000) }
    }
}

/// The operator's rules for cash on delivery (`WAYBILL_COD__…`).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CodRules {
    /// The operator promises to pay out the cash of an order within this many days after its delivery was reported, by the
    /// calendar of India. Businesses see the day of each order; an alert counts the orders that miss it.
    #[schemars(range(min = 1, max = 90))]
    pub settle_within_days: u16,
}

impl Default for CodRules {
    fn default() -> Self {
        Self { settle_within_days: 7 }
    }
}

/// How the service reconciles the ledger with the orders (`WAYBILL_RECONCILIATION__…`).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Reconciliation {
    /// From the start of one run to the start of the next.
    #[schemars(range(min = 1, max = 86_400))]
    pub interval_seconds: u32,
    /// Rows per transaction, and orders per request to order-api.
    #[schemars(range(min = 1, max = PAYMENTS_MAX))]
    pub chunk_rows: u16,
    /// Rows of each kind, of any age, that each run checks again.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub sweep_rows: u32,
}

impl Default for Reconciliation {
    fn default() -> Self {
        Self { interval_seconds: 300, chunk_rows: 1_000, sweep_rows: 50_000 }
    }
}

/// How top-ups are paid (`WAYBILL_PAYMENTS__…`).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Payments {
    /// The provider that collects top-ups. The sandbox credits them without payment, so production refuses it.
    pub provider: Provider,
    pub razorpay: RazorpayAccount,
}

/// The operator's account at Razorpay (`WAYBILL_PAYMENTS__RAZORPAY__…`). Required if Razorpay is the provider.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RazorpayAccount {
    /// The URL of Razorpay's API.
    pub url: Url,
    /// The id of the API key. Not secret: the portal passes it to Razorpay's page.
    pub key_id: String,
    /// The secret of the API key.
    pub key_secret: Secret,
    /// The secret that signs Razorpay's webhooks, at least 16 characters.
    pub webhook_secret: Secret,
}

impl Default for RazorpayAccount {
    fn default() -> Self {
        let url = Url::parse("https://api.razorpay.com/").unwrap_or_else(|_| unreachable!("a constant URL"));
        Self { url, key_id: String::new(), key_secret: Secret::new(""), webhook_secret: Secret::new("") }
    }
}

impl RazorpayAccount {
    fn check(&self, errors: &mut SettingErrors, environment: Environment) {
        let required = [
            ("KEY_ID", self.key_id.as_str(), "the id of its API key"),
            ("KEY_SECRET", self.key_secret.expose(), "the secret of its API key"),
            // Anybody could sign with an empty secret.
            (
                "WEBHOOK_SECRET",
                self.webhook_secret.expose(),
                "the secret of its webhook, of at least 16 bytes",
            ),
        ];
        for (name, _, what) in required.into_iter().filter(|(_, value, _)| value.trim().is_empty()) {
            let variable = format!("WAYBILL_PAYMENTS__RAZORPAY__{name}");
            errors
                .add(&variable, format!("is missing: set {what}, because Razorpay is the payment provider"));
        }
        let is_local_http = self.url.scheme() == "http" && environment == Environment::Local;
        if self.url.scheme() != "https" && !is_local_http {
            errors
                .add("WAYBILL_PAYMENTS__RAZORPAY__URL", "must be an https URL (a local stack may use http)");
        }
    }
}

impl settings::Settings for Settings {
    fn check(&self, errors: &mut SettingErrors) {
        self.sections().check(errors);
        if self.payments.provider == Provider::Razorpay {
            self.payments.razorpay.check(errors, self.environment);
        }
        if self.environment == Environment::Production && !self.payments.provider.is_real() {
            errors.add(
                "WAYBILL_PAYMENTS__PROVIDER",
                "is the sandbox, which credits top-ups without payment; choose a real provider in production",
            );
        }
    }
}

impl ServiceSettings for Settings {
    const SERVICE: &'static str = "wallet";
    /// With many callers, a quarter to a third more debits a second.
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
    use std::collections::HashMap;

    use super::*;

    fn load(extra: &[(&str, &str)]) -> Result<Settings, settings::SettingsError> {
        let base = [
            ("WAYBILL_DATABASE__URL", "postgres://wallet:wallet@127.0.0.1:1/wallet"),
            ("WAYBILL_BROKER__URL", "amqp://127.0.0.1:1/%2f"),
            ("WAYBILL_HTTP__INTERNAL", "127.0.0.1:0"),
            ("WAYBILL_HTTP__MANAGEMENT", "127.0.0.1:0"),
        ];
        let variables: HashMap<String, String> =
            base.iter().chain(extra).map(|(name, value)| ((*name).into(), (*value).into())).collect();
        settings::load_from(variables)
    }

    #[test]
    fn the_defaults_suit_a_local_stack() {
        let settings = load(&[]).unwrap();
        assert_eq!(settings.wallet.low_balance_threshold_paise, Paise::new(50_000));
        assert_eq!(settings.payments.provider, Provider::Sandbox);
        let settings = load(&[
            ("WAYBILL_WALLET__LOW_BALANCE_THRESHOLD_PAISE", "700"),
            ("WAYBILL_PAYMENTS__PROVIDER", "sandbox"),
        ]);
        assert_eq!(settings.unwrap().wallet.low_balance_threshold_paise, Paise::new(700));
    }

    #[test]
    fn production_refuses_the_sandbox_and_the_published_token() {
        let message = load(&[("WAYBILL_ENVIRONMENT", "production")]).unwrap_err().to_string();
        assert!(message.contains("WAYBILL_PAYMENTS__PROVIDER"), "{message}");
        assert!(message.contains("WAYBILL_INTERNAL__TOKEN"), "{message}");
    }

    #[test]
    fn razorpay_needs_an_account_and_https() {
        const ACCOUNT: [(&str, &str); 4] = [
            ("WAYBILL_PAYMENTS__PROVIDER", "razorpay"),
            ("WAYBILL_PAYMENTS__RAZORPAY__KEY_ID", "rzp_live_x"),
            ("WAYBILL_PAYMENTS__RAZORPAY__KEY_SECRET", "a-key-secret-of-it"),
            ("WAYBILL_PAYMENTS__RAZORPAY__WEBHOOK_SECRET", "sixteen-or-more!"),
        ];
        let settings = load(&ACCOUNT).unwrap();
        assert_eq!(settings.payments.razorpay.url.as_str(), "https://api.razorpay.com/");
        assert!(!format!("{settings:?}").contains("sixteen"));

        let message = load(&ACCOUNT[..1]).unwrap_err().to_string();
        for name in ["KEY_ID", "KEY_SECRET", "WEBHOOK_SECRET"] {
            assert!(
                message.contains(&format!("WAYBILL_PAYMENTS__RAZORPAY__{name}: is missing")),
                "{message}"
            );
        }
        let mut short = ACCOUNT;
        short[3].1 = "fifteen-or-less";
        let message = load(&short).unwrap_err().to_string();
        assert!(message.contains("WEBHOOK_SECRET: must be at least 16 bytes long"), "{message}");
        assert!(!message.contains("KEY_"), "only invalid settings are named: {message}");
        let plain = ("WAYBILL_PAYMENTS__RAZORPAY__URL", "http://127.0.0.1:1/");
        let mut variables = ACCOUNT.to_vec();
        variables.push(plain);
        assert!(load(&variables).is_ok());
        variables.push(("WAYBILL_ENVIRONMENT", "production"));
        assert!(load(&variables).unwrap_err().to_string().contains(plain.0));
    }

    #[test]
    fn invalid_values_are_refused() {
        assert!(load(&[("WAYBILL_WALLET__LOW_BALANCE_THRESHOLD_PAISE", "-1")]).is_err());
        assert!(load(&[("WAYBILL_PAYMENTS__PROVIDER", "piggy-bank")]).is_err());
        for (name, least, most) in [("INTERVAL_SECONDS", 1, 86_400), ("CHUNK_ROWS", 1, 1_000)] {
            let variable = format!("WAYBILL_RECONCILIATION__{name}");
            for (value, is_good) in [(least - 1, false), (least, true), (most, true), (most + 1, false)] {
                let loaded = load(&[(&variable, &value.to_string())]);
                assert_eq!(loaded.is_ok(), is_good, "{variable}={value}");
            }
        }
        assert!(load(&[("WAYBILL_RECONCILIATION__SWEEP_ROWS", "0")]).is_err());
        for (days, is_good) in [("0", false), ("1", true), ("90", true), ("91", false)] {
            assert_eq!(load(&[("WAYBILL_COD__SETTLE_WITHIN_DAYS", days)]).is_ok(), is_good, "{days}");
        }
    }
}
