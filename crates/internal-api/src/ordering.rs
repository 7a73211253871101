//! Endpoints of portal-api for order-api: live access and the pickup profile of a business.

use domain::{BusinessId, GoLiveItem};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{CallError, Peer};

/// `GET /internal/businesses/{id}/ordering`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderingContext {
    /// Open go-live items. Live orders are locked until it is empty.
    pub missing: Vec<GoLiveItem>,
    /// Whether the closing of the business has begun. Release 1.0.0 closes none.
    #[serde(default)]
    pub closing: bool,
    /// Absent while the profile is incomplete.
    pub pickup: Option<PickupProfile>,
}

/// The pickup fields of SPECIFICATION §2.1.
#[derive(Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PickupProfile {
    pub business_name: String,
    pub contact_name: String,
    pub phone: String,
    pub address_line1: String,
    pub address_line2: Option<String>,
    pub city: String,
    pub state: String,
    pub pincode: String,
    pub landmark: Option<String>,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub full_address: Option<String>,
}

impl std::fmt::Debug for PickupProfile {
    /// Hides the address and the phone number from logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PickupProfile(..)")
    }
}

/// portal-api's internal endpoints.
#[derive(Clone, Debug)]
pub struct OrderingClient(pub Peer);

impl OrderingClient {
    /// `GET /internal/businesses/{id}/ordering`
    pub async fn context(&self, business: BusinessId) -> Result<OrderingContext, CallError> {
        self.0.get(&["businesses", &business.to_string(), "ordering"]).await
    }
}
