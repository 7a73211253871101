//! The settings of payments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Environment, Secret, SettingErrors};
use url::Url;

use crate::domain::Provider;

/// How top-ups are paid (`WAYBILL_PAYMENTS__…`).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Payments {
    /// Who collects the money of top-ups. The sandbox gives it away, which production refuses.
    pub provider: Provider,
    pub razorpay: RazorpayAccount,
}

/// The operator's account at Razorpay (`WAYBILL_PAYMENTS__RAZORPAY__…`); wanted where it is the provider.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RazorpayAccount {
    /// Its API.
    pub url: Url,
    /// Public: the portal hands it to Razorpay's page.
    pub key_id: String,
    /// Of that key.
    pub key_secret: Secret,
    /// What its webhooks are signed with, 16 characters or more.
    pub webhook_secret: Secret,
}

impl Default for RazorpayAccount {
    fn default() -> Self {
        let url = Url::parse("https://api.razorpay.com/").unwrap_or_else(|_| unreachable!("a constant URL"));
        Self { url, key_id: String::new(), key_secret: Secret::new(""), webhook_secret: Secret::new("") }
    }
}

impl RazorpayAccount {
    pub(crate) fn check(&self, errors: &mut SettingErrors, environment: Environment) {
        let wanted = [
            ("KEY_ID", self.key_id.as_str(), "the id of its API key"),
            ("KEY_SECRET", self.key_secret.expose(), "the secret of its API key"),
            // An empty key would let anybody sign.
            (
                "WEBHOOK_SECRET",
                self.webhook_secret.expose(),
                "the secret of its webhook, of 16 bytes or more",
            ),
        ];
        for (name, _, what) in wanted.into_iter().filter(|(_, value, _)| value.trim().is_empty()) {
            let variable = format!("WAYBILL_PAYMENTS__RAZORPAY__{name}");
            errors.add(&variable, format!("is missing: where Razorpay is the provider, {what} is wanted"));
        }
        let plain = self.url.scheme() == "http" && environment == Environment::Local;
        if self.url.scheme() != "https" && !plain {
            errors
                .add("WAYBILL_PAYMENTS__RAZORPAY__URL", "must be an https URL (a local stack may use http)");
        }
    }
}
