//! The settings of this service, checked once at start.

mod approvals;
mod audit;
mod business_sso;
mod closing;
mod console;
mod create_operator;
mod mail;
mod mfa;
mod public;
mod region;
mod sessions;
mod sso;

use std::num::NonZeroU32;
use std::path::PathBuf;

use chassis::{Sections, ServiceSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{
    Brand, Broker, Database, Environment, Events, Http, Internal, Networks, Peers, Secret, SettingErrors,
    Settings, Telemetry, Tokens,
};
use url::Url;

pub use crate::domain::Locale;
pub use approvals::Approvals;
pub use audit::Audit;
pub use business_sso::BusinessSsoSettings;
pub use closing::Closing;
pub(crate) use create_operator::CreateOperatorSettings;
pub use mail::{MailEncryption, MailSettings, MailTransport};
pub use mfa::MfaSettings;
pub use public::Public;
pub use region::Region;
pub use sessions::Sessions;
pub use sso::SsoSettings;

/// All settings (`WAYBILL_…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct PortalSettings {
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
    pub telemetry: Telemetry,
    #[serde(default)]
    pub public: Public,
    #[serde(default)]
    pub operator: Operator,
    #[serde(default)]
    pub approvals: Approvals,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub subscription: Subscriptions,
    #[serde(default)]
    pub mail: MailSettings,
    #[serde(default)]
    pub mfa: MfaSettings,
    #[serde(default)]
    pub sessions: Sessions,
    #[serde(default)]
    pub audit: Audit,
    #[serde(default)]
    pub closing: Closing,
    #[serde(default)]
    pub sso: SsoSettings,
    #[serde(default)]
    pub business_sso: BusinessSsoSettings,
    #[serde(default)]
    pub brand: Brand,
    #[serde(default)]
    pub events: Events,
    #[serde(default)]
    pub pages: Pages,
    #[serde(default)]
    pub region: Region,
}

/// The portal's pages (`WAYBILL_PAGES__…`).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Pages {
    /// The folder of the built pages. If unset or empty, no pages are served.
    pub folder: Option<PathBuf>,
    /// The https origins of the payment provider's page, separated by commas. Browsers may load content from these and from
    /// the portal.
    pub payment_origins: String,
}

impl Pages {
    pub(crate) fn payment_origins(&self) -> impl Iterator<Item = &str> {
        settings::comma_separated_parts(&self.payment_origins)
    }

    fn check(&self, errors: &mut SettingErrors) {
        let is_origin = |text: &str| {
            Url::parse(text)
                .is_ok_and(|url| url.scheme() == "https" && url.origin().ascii_serialization() == text)
        };
        if !self.payment_origins().all(is_origin) {
            let error = "must be https origins, such as https://checkout.example, separated by commas";
            errors.add("WAYBILL_PAGES__PAYMENT_ORIGINS", error);
        }
    }
}

/// Access of the operator (`WAYBILL_OPERATOR__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Operator {
    /// At least 16 characters. An administrator's token for all calls of the operator and for the console.
    pub token: Secret,
    /// The token before it, which is accepted as well, so that programs can change to the new one at any time.
    pub previous_token: Option<Secret>,
    /// Whether the public listener serves the console and the operator's API although `WAYBILL_HTTP__OPERATOR` is set.
    pub on_public_listener: bool,
}

impl Default for Operator {
    fn default() -> Self {
        Self {
            token: Secret::new("local-operator-token-of-the-local-stack"),
            previous_token: None,
            on_public_listener: false,
        }
    }
}

impl Operator {
    pub(crate) fn tokens(&self) -> Tokens {
        Tokens::new(&self.token, self.previous_token.as_ref())
    }
}

/// Limits for callers (`WAYBILL_LIMITS__…`; SPECIFICATION §8).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// Whether log-ins and sign-ups are also limited per client address.
    pub per_address: bool,
    /// How many invalid keys or tokens a client address may send to one instance at once; one more is allowed each second.
    /// Valid ones are always accepted.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub failed_authentications: NonZeroU32,
    /// The reverse proxies, as networks or addresses separated by commas (`10.0.0.0/8,192.0.2.7`). `X-Forwarded-For` is
    /// trusted only from them: it is read from its end up to the first address that is not a proxy.
    pub trusted_proxies: Networks,
    /// How many event streams of each kind a business may have open on one instance. Each user may have half of them.
    #[schemars(range(min = 1, max = 1_000))]
    pub streams_per_business: usize,
}

impl Limits {
    const DEFAULT_FAILURES: NonZeroU32 = NonZeroU32::new(60).unwrap();
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            per_address: true,
            failed_authentications: Self::DEFAULT_FAILURES,
            trusted_proxies: Networks::default(),
            streams_per_business: 20,
        }
    }
}

/// The plans that a business may subscribe to (`WAYBILL_SUBSCRIPTION__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Subscriptions {
    /// The names of the plans, separated by commas.
    pub plans: String,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self { plans: "starter,growth,scale".into() }
    }
}

impl Subscriptions {
    pub fn plan_names(&self) -> Vec<String> {
        settings::comma_separated_parts(&self.plans).map(str::to_owned).collect()
    }
}

impl Settings for PortalSettings {
    fn check(&self, errors: &mut SettingErrors) {
        self.approvals.check(errors, self.environment);
        self.mail.check(errors, self.environment);
        self.mfa.check(errors);
        self.sessions.check(errors);
        self.audit.check(errors);
        self.closing.check(errors);
        self.sso.check(errors, self.environment);
        self.business_sso.check(errors, self.environment, &self.mfa);
        self.sections().check(errors);
        self.brand.check(errors);
        self.pages.check(errors);
        self.region.check(errors);
        self.operator.tokens().check("WAYBILL_OPERATOR__PREVIOUS_TOKEN", errors);
        console::check(self, errors);
        if self.http.public.is_none() {
            errors.add("WAYBILL_HTTP__PUBLIC", "is missing: set the address of the public listener");
        }
        self.public.check(errors, self.environment);
        let plans = self.subscription.plan_names();
        if plans.is_empty() || plans.iter().any(|plan| plan.len() > 64) {
            errors
                .add("WAYBILL_SUBSCRIPTION__PLANS", "must list at least one plan, each of at most 64 bytes");
        }
    }
}

impl ServiceSettings for PortalSettings {
    const SERVICE: &'static str = "portal-api";

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
    use crate::domain::Role;

    pub(super) fn load(more: &[(&str, &str)]) -> Result<PortalSettings, settings::SettingsError> {
        let least = [
            ("WAYBILL_DATABASE__URL", "postgres://portal@localhost/portal"),
            ("WAYBILL_BROKER__URL", "amqp://localhost/"),
            ("WAYBILL_HTTP__PUBLIC", "127.0.0.1:0"),
            ("WAYBILL_HTTP__INTERNAL", "127.0.0.1:0"),
            ("WAYBILL_HTTP__MANAGEMENT", "127.0.0.1:0"),
        ];
        let variables: HashMap<_, _> =
            least.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        settings::load_from(variables)
    }

    #[test]
    fn the_defaults_work_for_a_local_stack() {
        let settings = load(&[("WAYBILL_LIMITS__PER_ADDRESS", "false")]).unwrap();
        assert!(!settings.limits.per_address);
        assert_eq!(settings.subscription.plan_names(), ["starter", "growth", "scale"]);
        let policy = settings.approvals.policy();
        assert!(policy.credits_above.is_none() && !policy.lift_suspension && !policy.reset_links);
    }

    #[test]
    fn production_lists_all_refused_settings() {
        let text = load(&[("WAYBILL_ENVIRONMENT", "production")]).unwrap_err().to_string();
        let variables = [
            "WAYBILL_INTERNAL__TOKEN",
            "WAYBILL_OPERATOR__TOKEN",
            "WAYBILL_PUBLIC__URL",
            "WAYBILL_PUBLIC__API_URL",
            "WAYBILL_APPROVALS__CREDITS_ABOVE_PAISE",
        ];
        for variable in variables {
            assert!(text.contains(variable), "{text}");
        }
    }

    #[test]
    fn production_accepts_its_own_secrets() {
        load(&[
            ("WAYBILL_ENVIRONMENT", "production"),
            ("WAYBILL_INTERNAL__TOKEN", "a secret of the operator's own"),
            ("WAYBILL_OPERATOR__TOKEN", "another secret of the operator's own"),
            ("WAYBILL_PUBLIC__URL", "https://portal.example.com"),
            ("WAYBILL_PUBLIC__API_URL", "https://api.example.com/v1"),
            ("WAYBILL_APPROVALS__CREDITS_ABOVE_PAISE", "5000000"),
        ])
        .unwrap();
    }

    #[test]
    fn a_previous_token_is_another_one_and_no_published_default() {
        let own = ("WAYBILL_OPERATOR__TOKEN", "a secret of the operator's own");
        let previous = |token| load(&[own, ("WAYBILL_OPERATOR__PREVIOUS_TOKEN", token)]);
        assert_eq!(
            previous("the former secret of the operator").unwrap().operator.tokens().accepted().count(),
            2
        );
        assert_eq!(previous("").unwrap().operator.tokens().accepted().count(), 1, "as an empty file");
        for bad in [own.1, "short"] {
            let text = previous(bad).unwrap_err().to_string();
            assert!(text.contains("WAYBILL_OPERATOR__PREVIOUS_TOKEN"), "{text}");
        }
    }

    #[test]
    fn proxies_are_networks() {
        let settings = load(&[("WAYBILL_LIMITS__TRUSTED_PROXIES", "10.0.0.0/8,192.0.2.7")]).unwrap();
        assert!(settings.limits.trusted_proxies.contain("10.1.2.3".parse().unwrap()));
        let text = load(&[("WAYBILL_LIMITS__TRUSTED_PROXIES", "1")]).unwrap_err().to_string();
        assert!(text.contains("neither a network"), "{text}");
    }

    #[test]
    fn settings_of_pages_are_checked() {
        for (name, bad) in [
            ("WAYBILL_PUBLIC__API_URL", "http://127.0.0.1:8081/v2"),
            ("WAYBILL_PUBLIC__WEBHOOK_ADDRESSES", "203.0.113.7 203.0.113.8"),
            ("WAYBILL_BRAND__ACCENT_COLOR", "blue"),
            ("WAYBILL_BRAND__ACCENT_COLOR", "#12345g"),
            ("WAYBILL_PAGES__PAYMENT_ORIGINS", "https://pay.example; script-src *"),
            ("WAYBILL_PAGES__PAYMENT_ORIGINS", "https://pay.example,http://pay.example"),
            ("WAYBILL_REGION__TIME_ZONE", "Bengaluru"),
            ("WAYBILL_APPROVALS__CREDITS_ABOVE_PAISE", "-1"),
        ] {
            let text = load(&[(name, bad)]).unwrap_err().to_string();
            assert!(text.contains(name), "{bad}: {text}");
        }
        let good = load(&[
            ("WAYBILL_PUBLIC__API_URL", "http://127.0.0.1:8081/v1"),
            ("WAYBILL_BRAND__ACCENT_COLOR", "#A1b2C3"),
            ("WAYBILL_PAGES__PAYMENT_ORIGINS", "https://pay.example, https://api.pay.example"),
        ])
        .unwrap();
        assert_eq!(good.pages.payment_origins().count(), 2);
    }

    #[test]
    fn required_roles_exist_and_need_a_key() {
        let key = ("WAYBILL_MFA__KEY", "a key of the operator's own");
        for (name, bad) in [
            ("WAYBILL_MFA__REQUIRED_FOR_USERS", "owner,chief"),
            ("WAYBILL_MFA__REQUIRED_FOR_STAFF", "owner"),
            ("WAYBILL_MFA__RECENT_MINUTES", "0"),
        ] {
            let text = load(&[key, (name, bad)]).unwrap_err().to_string();
            assert!(text.contains(name), "{bad}: {text}");
        }
        let required = ("WAYBILL_MFA__REQUIRED_FOR_USERS", "owner, developer");
        let text = load(&[required]).unwrap_err().to_string();
        assert!(text.contains("WAYBILL_MFA__KEY"), "{text}");
        assert_eq!(load(&[key, required]).unwrap().mfa.user_roles(), [Role::Owner, Role::Developer]);
    }

    #[test]
    fn authentication_is_recent_for_a_quarter_of_an_hour_in_production_and_always_in_a_local_stack() {
        let default = MfaSettings::default();
        assert_eq!(default.recent_minutes(Environment::Production), Some(15));
        assert_eq!(default.recent_minutes(Environment::Local), None);
        let set = load(&[("WAYBILL_MFA__RECENT_MINUTES", "5")]).unwrap();
        assert_eq!(set.mfa.recent_minutes(Environment::Local), Some(5));
    }

    #[test]
    fn lifetimes_and_retention_are_bounded() {
        let all = [
            ("WAYBILL_SESSIONS__USER_IDLE_MINUTES", "4"),
            ("WAYBILL_SESSIONS__USER_MAX_MINUTES", "525601"),
            ("WAYBILL_SESSIONS__STAFF_IDLE_MINUTES", "721"),
            ("WAYBILL_AUDIT__BUSINESS_DAYS", "29"),
            ("WAYBILL_AUDIT__OPERATOR_DAYS", "36501"),
        ];
        let text = load(&all).unwrap_err().to_string();
        for (name, _) in all {
            assert!(text.contains(name), "{name}: {text}");
        }
        let same = [
            ("WAYBILL_SESSIONS__STAFF_IDLE_MINUTES", "720"),
            ("WAYBILL_SESSIONS__USER_IDLE_MINUTES", "5"),
            ("WAYBILL_SESSIONS__USER_MAX_MINUTES", "5"),
            ("WAYBILL_AUDIT__BUSINESS_DAYS", "0"),
        ];
        let settings = load(&same).unwrap();
        assert_eq!(settings.sessions.of_users().idle, settings.sessions.of_users().max);
        assert_eq!(settings.audit.retention().of_businesses, None);
        assert_eq!(settings.audit.retention().of_operator, Some(chrono::TimeDelta::days(400)));
    }

    #[test]
    fn an_empty_plan_list_is_an_error() {
        assert!(load(&[("WAYBILL_SUBSCRIPTION__PLANS", " , ")]).is_err());
    }
}
