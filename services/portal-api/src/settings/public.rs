//! How browsers reach the portal and the console (`WAYBILL_PUBLIC__…`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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
}

impl Public {
    /// Without an origin of its own, the console is at the portal's.
    pub(crate) fn console_url(&self) -> &Url {
        self.console_url.as_ref().unwrap_or(&self.url)
    }
}

impl Default for Public {
    fn default() -> Self {
        let at = |url| Url::parse(url).unwrap_or_else(|_| unreachable!("a constant URL"));
        Self { url: at("http://127.0.0.1:8084/"), api_url: at("http://127.0.0.1:8081/v1"), console_url: None }
    }
}
