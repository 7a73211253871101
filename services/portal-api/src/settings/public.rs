//! How browsers reach the portal and the console (`WAYBILL_PUBLIC__…`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Environment, Networks, SettingErrors};
use url::Url;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Public {
    /// The portal's own origin. Writing calls from pages of other origins are refused. Passkeys of users work at this host only, if
    /// it is a name.
    #[schemars(transform = settings::origin)]
    pub url: Url,
    /// The integrators' `{base_url}`, ending in `/v1`. The pages show it.
    #[schemars(transform = settings::published)]
    pub api_url: Url,
    /// The console's own origin, required if only `WAYBILL_HTTP__OPERATOR` serves it. Links of the staff lead there,
    /// and passkeys of the staff work there only.
    #[schemars(transform = settings::origin)]
    pub console_url: Option<Url>,
    /// The addresses that webhooks come from, if they are fixed, as `203.0.113.7,203.0.113.8/31`. Businesses see them,
    /// for their firewalls.
    pub webhook_addresses: Networks,
}

impl Public {
    /// Without an origin of its own, the console is at the portal's.
    pub(crate) fn console_url(&self) -> &Url {
        self.console_url.as_ref().unwrap_or(&self.url)
    }

    /// Adds the errors of this section.
    pub(super) fn check(&self, errors: &mut SettingErrors, environment: Environment) {
        self.check_pages(errors, environment);
        check_scheme(errors, environment, "WAYBILL_PUBLIC__API_URL", &self.api_url);
        if !self.api_url.path().trim_end_matches('/').ends_with("/v1") {
            errors.add("WAYBILL_PUBLIC__API_URL", "must end in /v1");
        }
    }

    /// As [`Public::check`], for those who need the addresses of the pages alone.
    pub(super) fn check_pages(&self, errors: &mut SettingErrors, environment: Environment) {
        check_scheme(errors, environment, "WAYBILL_PUBLIC__URL", &self.url);
        if let Some(url) = &self.console_url {
            check_scheme(errors, environment, "WAYBILL_PUBLIC__CONSOLE_URL", url);
        }
    }
}

impl Default for Public {
    fn default() -> Self {
        let at = |url| Url::parse(url).unwrap_or_else(|_| unreachable!("a constant URL"));
        Self {
            url: at("http://127.0.0.1:8084/"),
            api_url: at("http://127.0.0.1:8081/v1"),
            console_url: None,
            webhook_addresses: Networks::default(),
        }
    }
}

fn check_scheme(errors: &mut SettingErrors, environment: Environment, variable: &str, url: &Url) {
    match url.scheme() {
        "https" => {}
        "http" if environment == Environment::Local => {}
        _ => errors.add(variable, "must be an https URL (a local stack may use http)"),
    }
}
