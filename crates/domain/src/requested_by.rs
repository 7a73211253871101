//! Who asked for something about an order: the kind alone. The audit logs of the portal name people.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RequestedBy {
    /// A program of the business, with a key.
    ApiKey,
    /// A person of the business.
    Portal,
    /// The operator's staff.
    Operator,
}

impl RequestedBy {
    pub fn words() -> impl Iterator<Item = &'static str> {
        Self::VARIANTS.iter().map(|by| -> &'static str { (*by).into() })
    }
}
