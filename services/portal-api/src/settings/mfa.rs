//! Second factors (`WAYBILL_MFA__…`).

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Environment, Secret, SettingErrors};

use crate::domain::{OperatorRole, Role};

/// Two-factor authentication of users and of the operator's staff, and recent authentication (`WAYBILL_MFA__…`).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct MfaSettings {
    /// The key that encrypts the secrets of authenticator apps and the client secrets of businesses' identity providers, at least
    /// 16 characters, as from `openssl rand -base64 32`.
    /// All instances need the same key. If unset, nobody can set up two-factor authentication. If lost, enrolled people
    /// log in with recovery codes.
    pub key: Option<Secret>,
    /// The former key after a change. It only decrypts: each secret is encrypted with the new key when its next code is
    /// accepted.
    pub previous_key: Option<Secret>,
    /// The roles of users that must use two-factor authentication, separated by commas, such as `owner,developer`. Users
    /// of these roles without it can only set it up.
    pub required_for_users: String,
    /// The roles of the operator's staff that must use two-factor authentication, separated by commas, such as
    /// `administrator,finance`.
    pub required_for_staff: String,
    /// How many minutes after a log-in sensitive calls are allowed without confirming the password again. The default is 15
    /// in production, and no limit in a local stack, where programs keep one session for hours.
    #[schemars(range(min = 1, max = 43_200))]
    pub recent_minutes: Option<u32>,
}

impl MfaSettings {
    const RECENT_MINUTES: u32 = 15;

    pub(crate) fn user_roles(&self) -> Vec<Role> {
        words(&self.required_for_users).filter_map(Result::ok).collect()
    }

    pub(crate) fn staff_roles(&self) -> Vec<OperatorRole> {
        words(&self.required_for_staff).filter_map(Result::ok).collect()
    }

    /// `None` without a limit.
    pub(crate) fn recent_minutes(&self, environment: Environment) -> Option<u32> {
        self.recent_minutes.or((environment != Environment::Local).then_some(Self::RECENT_MINUTES))
    }

    pub(super) fn check(&self, errors: &mut SettingErrors) {
        if words::<Role>(&self.required_for_users).any(|role| role.is_err()) {
            let error = format!("must be roles of users, separated by commas: {}", Role::WORDS);
            errors.add("WAYBILL_MFA__REQUIRED_FOR_USERS", error);
        }
        if words::<OperatorRole>(&self.required_for_staff).any(|role| role.is_err()) {
            let error = format!("must be roles of the staff, separated by commas: {}", OperatorRole::WORDS);
            errors.add("WAYBILL_MFA__REQUIRED_FOR_STAFF", error);
        }
        let is_required = !self.user_roles().is_empty() || !self.staff_roles().is_empty();
        if self.key.is_none() && (is_required || self.previous_key.is_some()) {
            errors.add("WAYBILL_MFA__KEY", "is missing: nobody could set up two-factor authentication");
        }
    }
}

fn words<T: FromStr>(text: &str) -> impl Iterator<Item = Result<T, T::Err>> {
    settings::comma_separated_parts(text).map(str::parse)
}
