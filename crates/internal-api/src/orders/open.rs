//! The live orders that keep a business from being closed.

use domain::BusinessId;
use serde::{Deserialize, Serialize};

use super::OrdersClient;
use crate::CallError;

/// `GET /internal/businesses/{id}/open-orders`: the number of live orders of each kind; 1000 means 1,000 or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenOrders {
    /// Placed, and neither ended nor failed.
    pub on_their_way: i64,
    /// The fleet has their parcels after a failed attempt, whatever the business has decided.
    pub failed: i64,
    /// Delivered, and their cash is not settled.
    pub cash: i64,
}

impl OrdersClient {
    /// `GET /internal/businesses/{id}/open-orders`
    pub async fn open(&self, business: BusinessId) -> Result<OpenOrders, CallError> {
        self.0.get(&["businesses", &business.to_string(), "open-orders"]).await
    }
}
