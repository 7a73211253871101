//! Single sign-on of businesses (`WAYBILL_BUSINESS_SSO__…`).

use outbound::{AddressRanges, NameServers, Policy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Environment, SettingErrors};

use crate::settings::MfaSettings;

/// Single sign-on of businesses with identity providers that their owners choose (`WAYBILL_BUSINESS_SSO__…`).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct BusinessSsoSettings {
    /// Whether owners can set it up. This service then calls URLs of strangers, at public addresses only. Requires
    /// `WAYBILL_MFA__KEY`, which encrypts the client secrets. Turn it on when all instances run a release that knows it.
    pub enabled: bool,
    /// Whether providers may have plain `http` URLs. Only in a local stack.
    pub allow_http: bool,
    /// Private address ranges of providers that may be called, as `10.1.0.0/16, fd00::/8`.
    pub allowed_ranges: AddressRanges,
    /// Name servers that resolve providers, as `10.0.0.2, [2001:db8::1]:5353`; by default those of `/etc/resolv.conf`.
    pub name_servers: NameServers,
}

impl BusinessSsoSettings {
    pub(crate) fn policy(&self) -> Policy {
        Policy { allow_http: self.allow_http, allowed_ranges: self.allowed_ranges.clone() }
    }

    pub(super) fn check(&self, errors: &mut SettingErrors, environment: Environment, mfa: &MfaSettings) {
        if self.enabled && mfa.key.is_none() {
            let error = "is missing: it encrypts the client secrets of businesses";
            errors.add("WAYBILL_MFA__KEY", error);
        }
        if self.allow_http && environment != Environment::Local {
            let error = "would send client secrets unencrypted: only a local stack may allow it";
            errors.add("WAYBILL_BUSINESS_SSO__ALLOW_HTTP", error);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::tests::load;

    const ENABLED: (&str, &str) = ("WAYBILL_BUSINESS_SSO__ENABLED", "true");
    const KEY: (&str, &str) = ("WAYBILL_MFA__KEY", "a key that encrypts secrets");

    #[test]
    fn it_is_off_and_calls_nothing_private_unless_the_operator_says_so() {
        let settings = load(&[]).unwrap();
        assert!(!settings.business_sso.enabled);
        let policy = settings.business_sso.policy();
        assert!(!policy.allow_http && !policy.allows("127.0.0.1".parse().unwrap()));
        let loopback = ("WAYBILL_BUSINESS_SSO__ALLOWED_RANGES", "127.0.0.0/8");
        let settings = load(&[ENABLED, KEY, loopback]).unwrap();
        assert!(settings.business_sso.policy().allows("127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn secrets_need_a_key_and_in_production_https() {
        let text = load(&[ENABLED]).unwrap_err().to_string();
        assert!(text.contains("WAYBILL_MFA__KEY"), "{text}");
        let http = ("WAYBILL_BUSINESS_SSO__ALLOW_HTTP", "true");
        assert!(load(&[ENABLED, KEY, http]).is_ok());
        let text =
            load(&[ENABLED, KEY, http, ("WAYBILL_ENVIRONMENT", "production")]).unwrap_err().to_string();
        assert!(text.contains("WAYBILL_BUSINESS_SSO__ALLOW_HTTP"), "{text}");
    }
}
