//! Roles of users. Each role includes the rights of the previous one.

use serde::Serialize;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    ToSchema,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Role {
    /// Sees everything except users and the audit log.
    Viewer,
    /// Also manages the integration: keys, webhooks, simulated orders, cancellations, the pickup profile.
    Developer,
    /// Also manages money, the subscription and users.
    Owner,
}

impl Role {
    /// For error messages.
    pub(crate) const WORDS: &str = "owner, developer or viewer";

    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_ordered() {
        assert!(Role::Viewer < Role::Developer && Role::Developer < Role::Owner);
        for role in Role::VARIANTS {
            assert_eq!(role.as_str().parse(), Ok(*role));
        }
    }
}
