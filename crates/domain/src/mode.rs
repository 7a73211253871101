//! The mode, test or live. Only the API key decides it.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// Test orders are trials; live orders are real deliveries.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Mode {
    Test,
    Live,
}

impl Mode {
    /// The name used in JSON, SQL and routing keys.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
