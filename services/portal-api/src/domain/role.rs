//! What somebody may do for their business. Each role may do what the one before it may.

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
    /// Sees everything but the people and the audit log.
    Viewer,
    /// Also builds the integration: keys, webhooks, simulated orders, cancelling, the pickup profile.
    Developer,
    /// Also money, subscription and people.
    Owner,
}

impl Role {
    /// For messages.
    pub(crate) const WORDS: &str = "owner, developer or viewer";

    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_grow() {
        assert!(Role::Viewer < Role::Developer && Role::Developer < Role::Owner);
        for role in Role::VARIANTS {
            assert_eq!(role.as_str().parse(), Ok(*role));
        }
    }
}
