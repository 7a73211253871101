//! Erasing what orders tell of people.

use chrono::{DateTime, Utc};
use domain::BusinessId;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::{OrderView, OrdersClient};
use crate::CallError;

/// How far the erasure of a business's completed orders is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErasureView {
    /// Orders that were placed later are not meant.
    pub requested_at: DateTime<Utc>,
    /// Orders erased by it so far.
    pub erased: i64,
    /// Orders that were under way when it came to them. They are left as they are.
    pub not_completed: i64,
    /// Null while it is under way.
    pub completed_at: Option<DateTime<Utc>>,
}

/// The latest erasure of a business's orders, if there was one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BusinessErasureView {
    pub erasure: Option<ErasureView>,
}

impl OrdersClient {
    /// `POST /internal/businesses/{id}/orders/{order}/erase-personal-data`; repeated: the same answer
    pub async fn erase_personal_data(
        &self,
        business: BusinessId,
        order: &str,
    ) -> Result<OrderView, CallError> {
        let path = ["businesses", &business.to_string(), "orders", order, "erase-personal-data"];
        self.0.send(Method::POST, &path, &json!({})).await
    }

    /// `POST /internal/businesses/{id}/personal-data-erasure`: of all completed orders; tells of the one under way when
    /// there is one
    pub async fn begin_erasure(&self, business: BusinessId) -> Result<ErasureView, CallError> {
        let path = ["businesses", &business.to_string(), "personal-data-erasure"];
        self.0.send(Method::POST, &path, &json!({})).await
    }

    /// `GET /internal/businesses/{id}/personal-data-erasure`
    pub async fn latest_erasure(&self, business: BusinessId) -> Result<BusinessErasureView, CallError> {
        self.0.get(&["businesses", &business.to_string(), "personal-data-erasure"]).await
    }
}
