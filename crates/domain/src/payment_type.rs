//! The payment type of an order (SPECIFICATION §2.1).

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PaymentType {
    /// The driver collects cash at the door.
    Cod,
    /// The customer has paid the business.
    Prepaid,
}

impl PaymentType {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
