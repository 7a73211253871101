//! Pure rules.

pub(crate) mod business_sso;

pub(crate) use business_sso::{BusinessSso, CompanyDomain, SsoAccess, SsoProvider, may_use_password};
