//! Single sign-on of one business with its own identity provider.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use domain::Email;
use identity::single_sign_on::{GroupRoles, SsoIdentity};

use crate::domain::Role;

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

/// A domain whose addresses a company gives away, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompanyDomain(String);

impl CompanyDomain {
    /// For error messages.
    pub(crate) const WORDS: &str =
        "a domain of your company, such as shop.example, and none where anybody can get an address";
    const PUBLIC: [&str; 11] = [
        "gmail.com",
        "googlemail.com",
        "outlook.com",
        "hotmail.com",
        "live.com",
        "yahoo.com",
        "yahoo.co.in",
        "yahoo.in",
        "icloud.com",
        "proton.me",
        "rediffmail.com",
    ];

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

#[derive(Debug, thiserror::Error)]
#[error("this is no domain of a company")]
pub(crate) struct InvalidDomain;

impl FromStr for CompanyDomain {
    type Err = InvalidDomain;

    fn from_str(text: &str) -> Result<Self, InvalidDomain> {
        let domain = text.trim().to_lowercase();
        let is_usable = Email::parse(&format!("x@{domain}")).is_some_and(|email| email.host() == domain);
        (is_usable && !Self::PUBLIC.contains(&domain.as_str())).then_some(Self(domain)).ok_or(InvalidDomain)
    }
}

/// Who may log in, and how.
#[derive(Clone, Debug)]
pub(crate) struct SsoAccess {
    pub(crate) roles: GroupRoles<Role>,
    /// Of people in none of these groups. Never the owner.
    pub(crate) default_role: Option<Role>,
    /// Of people with the default role. Without any, they must be in a group.
    pub(crate) allowed_domains: Vec<CompanyDomain>,
    /// Whether only owners may log in with a password.
    pub(crate) required: bool,
}

impl SsoAccess {
    /// `None` if the person may not log in.
    pub(crate) fn role_of(&self, identity: &SsoIdentity) -> Option<Role> {
        let by_default = || self.default_role.filter(|_| self.is_open() || self.admits(identity));
        self.roles.role_of(&identity.groups).or_else(by_default)
    }

    /// Whether nothing but the provider limits who gets the default role: a public provider knows everybody. Only settings of
    /// before are so. Their users keep the access, and nobody joins.
    pub(crate) fn is_open(&self) -> bool {
        self.default_role.is_some() && self.roles.is_empty() && self.allowed_domains.is_empty()
    }

    fn admits(&self, identity: &SsoIdentity) -> bool {
        if self.allowed_domains.is_empty() {
            return !identity.groups.is_empty();
        }
        let of_email = identity.email.as_ref().filter(|_| identity.email_verified).map(Email::host);
        let is_allowed =
            |host: &str| self.allowed_domains.iter().any(|allowed| allowed.0 == host.to_lowercase());
        of_email.into_iter().chain(identity.hosted_domain.as_deref()).any(is_allowed)
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

    fn person(email: &str, verified: bool, groups: &[&str], hosted_domain: Option<&str>) -> SsoIdentity {
        SsoIdentity {
            issuer: "https://id.example.com".to_owned(),
            subject: "person-1".to_owned(),
            email: Email::parse(email),
            email_verified: verified,
            hosted_domain: hosted_domain.map(str::to_owned),
            name: None,
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            authenticated_at: None,
        }
    }

    #[test]
    fn everybody_else_is_limited_by_a_domain_or_by_being_in_a_group() {
        let access = |domains: &[&str], roles: &[(&str, Role)]| SsoAccess {
            roles: roles.iter().map(|(group, role)| ((*group).to_owned(), *role)).collect(),
            default_role: Some(Role::Viewer),
            allowed_domains: domains.iter().map(|domain| domain.parse().unwrap()).collect(),
            required: false,
        };
        let ops = [("ops", Role::Developer)];
        for (access, person, role) in [
            (access(&["shop.example"], &[]), person("a@Shop.example", true, &[], None), Some(Role::Viewer)),
            (access(&["shop.example"], &[]), person("a@shop.example", false, &["x"], None), None),
            (access(&["shop.example"], &[]), person("a@not-shop.example", true, &["x"], None), None),
            (access(&["shop.example"], &[]), person("a@x.shop.example", true, &[], None), None),
            (
                access(&["shop.example"], &[]),
                person("a@x.example", true, &[], Some("shop.example")),
                Some(Role::Viewer),
            ),
            (
                access(&["shop.example"], &ops),
                person("a@x.example", true, &["ops"], None),
                Some(Role::Developer),
            ),
            (access(&[], &ops), person("a@x.example", true, &["staff"], None), Some(Role::Viewer)),
            (access(&[], &ops), person("a@x.example", true, &[], None), None),
        ] {
            assert!(!access.is_open());
            assert_eq!(access.role_of(&person), role, "{access:?} {:?} {:?}", person.email, person.groups);
        }
        let open = access(&[], &[]);
        assert!(open.is_open());
        assert_eq!(
            open.role_of(&person("a@x.example", true, &[], None)),
            Some(Role::Viewer),
            "for known users"
        );
        for bad in ["", "shop", "@shop.example", "a@shop.example", "Gmail.com", "shop.example, x.example"] {
            assert!(bad.parse::<CompanyDomain>().is_err(), "{bad}");
        }
    }

    #[test]
    fn only_owners_keep_the_password_if_single_sign_on_is_required() {
        for role in Role::VARIANTS {
            assert!(may_use_password(*role, false), "{role}");
            assert_eq!(may_use_password(*role, true), *role == Role::Owner, "{role}");
        }
    }
}
