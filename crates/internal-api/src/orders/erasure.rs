//! Erases the personal data of orders.

use chrono::{DateTime, Utc};
use domain::BusinessId;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::{OrderView, OrdersClient};
use crate::CallError;

/// The progress of the erasure of a business's completed orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErasureView {
    /// The erasure covers orders that were placed before this time.
    pub requested_at: DateTime<Utc>,
    /// The number of orders erased so far.
    pub erased: i64,
    /// The number of orders that were still in delivery and therefore skipped.
    pub not_completed: i64,
    /// Null while the erasure is running.
    pub completed_at: Option<DateTime<Utc>>,
    /// Whether it includes orders in any state, because the business is closed.
    #[serde(default)]
    #[schema(required)]
    pub everything: bool,
}

/// The latest erasure of a business's orders, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BusinessErasureView {
    pub erasure: Option<ErasureView>,
}

impl OrdersClient {
    /// `POST /internal/businesses/{id}/orders/{order}/erase-personal-data`; a repeated call returns the same response
    pub async fn erase_personal_data(
        &self,
        business: BusinessId,
        order: &str,
    ) -> Result<OrderView, CallError> {
        let path = ["businesses", &business.to_string(), "orders", order, "erase-personal-data"];
        self.0.send(Method::POST, &path, &json!({})).await
    }

    /// `POST /internal/businesses/{id}/personal-data-erasure`: erases all completed orders; returns the running erasure
    /// if there is one
    pub async fn begin_erasure(&self, business: BusinessId) -> Result<ErasureView, CallError> {
        let path = ["businesses", &business.to_string(), "personal-data-erasure"];
        self.0.send(Method::POST, &path, &json!({})).await
    }

    /// As [`OrdersClient::begin_erasure`], of orders in any state
    pub async fn begin_whole_erasure(&self, business: BusinessId) -> Result<ErasureView, CallError> {
        let path = ["businesses", &business.to_string(), "personal-data-erasure"];
        self.0.send(Method::POST, &path, &json!({ "everything": true })).await
    }

    /// `GET /internal/businesses/{id}/personal-data-erasure`
    pub async fn latest_erasure(&self, business: BusinessId) -> Result<BusinessErasureView, CallError> {
        self.0.get(&["businesses", &business.to_string(), "personal-data-erasure"]).await
    }
}
