//! Pure rules.

pub(crate) mod factor_policy;

pub(crate) use factor_policy::FactorPolicy;
