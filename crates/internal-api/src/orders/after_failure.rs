//! Requests of a business after a failed delivery.

use chrono::{DateTime, NaiveDate, Utc};
use domain::schema::open_words;
use domain::{ApiKeyId, FailureReason, Paise};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};

/// Another attempt at a delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReattemptView {
    /// The day in India; null for as soon as possible.
    pub on: Option<NaiveDate>,
    /// 2 for the attempt after the first failure.
    pub number: u32,
    /// For the driver.
    pub note: Option<String>,
    /// What the attempt takes from the wallet of a live order when it begins. It was announced with the request.
    #[serde(default)]
    #[schema(required)]
    pub fee_paise: Paise,
    /// When the business asked for it.
    pub requested_at: DateTime<Utc>,
}

/// A correction of the phone or the address, without values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CorrectionView {
    /// When the order was corrected.
    pub corrected_at: DateTime<Utc>,
    /// The API key that asked for it; null for a person in the portal.
    pub key_id: Option<ApiKeyId>,
    /// The names of what changed, as in the request: `phone`, `delivery.pincode`.
    pub fields: Vec<String>,
}

/// The schema of a failure's code, or null.
pub fn reason_code() -> OneOfBuilder {
    let null = ObjectBuilder::new().schema_type(Type::Null);
    let code = open_words(FailureReason::words(), "A reason.");
    let description = "Why the delivery failed, as a code; null when the fleet gave none.";
    OneOfBuilder::new().item(code).item(null).description(Some(description))
}
