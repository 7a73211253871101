//! Single sign-on of one business with its own identity provider.

use chrono::{DateTime, Utc};

use super::{GroupRoles, Role, SsoIdentity};

/// How to call a provider. Anything that changes here makes another provider of it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SsoProvider {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    /// The client secret, encrypted for the business.
    pub(crate) sealed_secret: Vec<u8>,
    /// Separated by spaces.
    pub(crate) scopes: String,
    pub(crate) groups_claim: String,
}

impl SsoProvider {
    /// Whether identities of one are those of the other.
    pub(crate) fn is_same_client(&self, other: &Self) -> bool {
        self.issuer == other.issuer && self.client_id == other.client_id
    }
}

/// What an owner has set up.
#[derive(Clone)]
pub(crate) struct BusinessSso {
    pub(crate) provider: SsoProvider,
    pub(crate) access: SsoAccess,
    pub(crate) updated_at: DateTime<Utc>,
}

/// Who may log in, and how.
#[derive(Clone, Debug)]
pub(crate) struct SsoAccess {
    pub(crate) roles: GroupRoles<Role>,
    /// Of people in none of the groups. Never the owner.
    pub(crate) default_role: Option<Role>,
    /// Whether only owners may log in with a password.
    pub(crate) required: bool,
}

impl SsoAccess {
    /// `None` if the person may not log in.
    pub(crate) fn role_of(&self, identity: &SsoIdentity) -> Option<Role> {
        self.roles.role_of(&identity.groups).or(self.default_role)
    }
}

/// Owners keep the password, so that a broken provider locks nobody out forever.
pub(crate) fn may_use_password(role: Role, sso_required: bool) -> bool {
    role == Role::Owner || !sso_required
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;

    #[test]
    fn only_owners_keep_the_password_if_single_sign_on_is_required() {
        for role in Role::VARIANTS {
            assert!(may_use_password(*role, false), "{role}");
            assert_eq!(may_use_password(*role, true), *role == Role::Owner, "{role}");
        }
    }
}
