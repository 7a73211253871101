//! Parts of the evidence that a fleet reports about an attempt.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// Who took a parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum RecipientRelation {
    Customer,
    Family,
    Colleague,
    Neighbour,
    Guard,
    Other,
}

impl RecipientRelation {
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    pub fn words() -> impl Iterator<Item = &'static str> {
        Self::VARIANTS.iter().map(|relation| relation.as_str())
    }
}

/// Where the driver was, in degrees, WGS 84.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EvidencePlace {
    pub latitude: f64,
    pub longitude: f64,
}

/// A photo in the fleet's store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Photo {
    /// Where the fleet keeps it.
    #[schema(format = "uri")]
    pub url: String,
    /// SHA-256 of the file, in hex.
    pub sha256: String,
}
