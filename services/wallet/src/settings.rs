//! The settings of this service.

use chassis::{Sections, ServiceSettings};
use domain::Paise;
use internal_api::orders::PAYMENTS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Broker, Database, Environment, Http, Internal, Peers, SettingErrors, Telemetry};

use crate::domain::Provider;
use crate::payments::Payments;

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
    pub telemetry: Telemetry,
    #[serde(default)]
    pub peers: Peers,
    #[serde(default)]
    pub wallet: WalletRules,
    #[serde(default)]
    pub payments: Payments,
    #[serde(default)]
    pub reconciliation: Reconciliation,
}

/// The operator's rules for wallets (`WAYBILL_WALLET__…`).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct WalletRules {
    /// A wallet below this counts as low, unless its business has set another threshold. In paise.
    #[schemars(with = "i64", range(min = 0, max = Paise::REQUEST_MAX.get()))]
    pub low_balance_threshold_paise: Paise,
}

impl Default for WalletRules {
    fn default() -> Self {
        Self { low_balance_threshold_paise: Paise::new(50_000) }
    }
}

/// How the books are proven by the running service (`WAYBILL_RECONCILIATION__…`).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Reconciliation {
    /// How often the books are proven: from the beginning of one turn to that of the next.
    #[schemars(range(min = 1, max = 86_400))]
    pub interval_seconds: u32,
    /// Looked at in one short transaction; order-api is asked for as many orders at once.
    #[schemars(range(min = 1, max = PAYMENTS_MAX))]
    pub chunk_rows: u16,
    /// Of each kind of rows, looked at anew at each turn, however old they are.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub sweep_rows: u32,
}

impl Default for Reconciliation {
    fn default() -> Self {
        Self { interval_seconds: 300, chunk_rows: 1_000, sweep_rows: 50_000 }
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
                "is the sandbox, which gives money away; production wants a real provider",
            );
        }
    }
}

impl ServiceSettings for Settings {
    const SERVICE: &'static str = "wallet";

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
    fn razorpay_wants_an_account_and_a_line_that_nobody_listens_to() {
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
        assert!(!message.contains("KEY_"), "only what is wrong is named: {message}");
        let plain = ("WAYBILL_PAYMENTS__RAZORPAY__URL", "http://127.0.0.1:1/");
        let mut variables = ACCOUNT.to_vec();
        variables.push(plain);
        assert!(load(&variables).is_ok());
        variables.push(("WAYBILL_ENVIRONMENT", "production"));
        assert!(load(&variables).unwrap_err().to_string().contains(plain.0));
    }

    #[test]
    fn nonsense_is_refused() {
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
    }
}
