//! Single sign-on (`WAYBILL_SSO__…`).

use identity::single_sign_on::GroupRoles;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Environment, Secret, SettingErrors};
use url::Url;

use crate::domain::OperatorRole;

/// Single sign-on of the operator's staff with an OpenID Connect provider (`WAYBILL_SSO__…`). It is on if the issuer is set.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct SsoSettings {
    /// The issuer, exactly as the provider's metadata names it, such as `https://id.example.com/realms/staff`. At the provider,
    /// register the console's URL with the path `/operator/sso` for redirects, and with `/operator` for redirects after log-outs.
    pub issuer: Option<String>,
    /// The client id that the provider has issued for the console.
    pub client_id: Option<String>,
    /// The client secret.
    pub client_secret: Option<Secret>,
    /// The scopes to request in addition to `openid`, separated by spaces. Some providers need `groups`.
    pub scopes: String,
    /// The claim with the groups of a person: a list, or a single name.
    pub groups_claim: String,
    /// Which group gives which role, such as `waybill-admins=administrator; waybill-support=support`. Of several groups of a
    /// person, the first in this list counts. Persons in none of them cannot log in.
    pub roles: String,
    /// The label of the button on the log-in page.
    pub label: String,
    /// Whether the staff may also log in with passwords. The installation token always opens a session.
    pub password_log_in: bool,
}

impl Default for SsoSettings {
    fn default() -> Self {
        Self {
            issuer: None,
            client_id: None,
            client_secret: None,
            scopes: "email profile".to_owned(),
            groups_claim: "groups".to_owned(),
            roles: String::new(),
            label: "Log in with single sign-on".to_owned(),
            password_log_in: true,
        }
    }
}

impl SsoSettings {
    const LABEL_MAX: usize = 60;

    /// Nothing if the text is not valid, which [`Self::check`] reports.
    pub(crate) fn group_roles(&self) -> GroupRoles<OperatorRole> {
        self.roles.parse().unwrap_or_default()
    }

    pub(super) fn check(&self, errors: &mut SettingErrors, environment: Environment) {
        let Some(issuer) = &self.issuer else {
            let is_started =
                self.client_id.is_some() || self.client_secret.is_some() || !self.password_log_in;
            if is_started || !self.roles.is_empty() {
                errors.add("WAYBILL_SSO__ISSUER", "is missing: without it, single sign-on is off");
            }
            return;
        };
        if !is_issuer(issuer, environment) {
            let error = "must be an https URL without a query (a local stack may use http)";
            errors.add("WAYBILL_SSO__ISSUER", error);
        }
        for (variable, is_missing) in [
            ("WAYBILL_SSO__CLIENT_ID", self.client_id.is_none()),
            ("WAYBILL_SSO__CLIENT_SECRET", self.client_secret.is_none()),
        ] {
            if is_missing {
                errors.add(variable, "is missing: the provider issues it");
            }
        }
        match self.roles.parse::<GroupRoles<OperatorRole>>() {
            Err(error) => errors.add("WAYBILL_SSO__ROLES", error.to_string()),
            Ok(roles) if roles.is_empty() => {
                errors.add("WAYBILL_SSO__ROLES", "is missing: nobody could log in with single sign-on");
            }
            Ok(_) => {}
        }
        if self.label.trim().is_empty() || self.label.chars().count() > Self::LABEL_MAX {
            errors.add("WAYBILL_SSO__LABEL", "must have 1 to 60 characters");
        }
        if self.groups_claim.is_empty() {
            errors.add("WAYBILL_SSO__GROUPS_CLAIM", "is empty");
        }
    }
}

fn is_issuer(text: &str, environment: Environment) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let has_scheme = match url.scheme() {
        "https" => true,
        "http" => environment == Environment::Local,
        _ => false,
    };
    has_scheme && url.query().is_none() && url.fragment().is_none() && url.username().is_empty()
}

#[cfg(test)]
mod tests {
    use crate::settings::tests::load;

    const COMPLETE: [(&str, &str); 4] = [
        ("WAYBILL_SSO__ISSUER", "https://id.example.com"),
        ("WAYBILL_SSO__CLIENT_ID", "waybill"),
        ("WAYBILL_SSO__CLIENT_SECRET", "a secret of the provider's"),
        ("WAYBILL_SSO__ROLES", "ops=administrator"),
    ];

    #[test]
    fn single_sign_on_is_complete_or_off() {
        assert!(load(&COMPLETE).is_ok());
        for (missing, _) in COMPLETE {
            let rest: Vec<_> = COMPLETE.into_iter().filter(|(name, _)| *name != missing).collect();
            let text = load(&rest).unwrap_err().to_string();
            assert!(text.contains(missing), "{missing}: {text}");
        }
        for (name, bad) in [
            ("WAYBILL_SSO__ISSUER", "ldap://id.example.com"),
            ("WAYBILL_SSO__ISSUER", "https://id.example.com/?tenant=1"),
            ("WAYBILL_SSO__ROLES", "ops=chief"),
            ("WAYBILL_SSO__LABEL", " "),
            ("WAYBILL_SSO__GROUPS_CLAIM", ""),
        ] {
            let others = COMPLETE.into_iter().filter(|(other, _)| *other != name);
            let given: Vec<_> = others.chain([(name, bad)]).collect();
            match load(&given) {
                // An empty variable counts as unset.
                Ok(settings) => assert_eq!((bad, settings.sso.groups_claim.as_str()), ("", "groups")),
                Err(text) => assert!(text.to_string().contains(name), "{bad}: {text}"),
            }
        }
        let text = load(&[("WAYBILL_SSO__PASSWORD_LOG_IN", "false")]).unwrap_err().to_string();
        assert!(text.contains("WAYBILL_SSO__ISSUER"), "nobody of the staff could log in: {text}");
    }
}
