//! What helps with orders, beside the orders themselves: where one comes from, calling one off from the portal, how
//! busy a business is, which of all businesses has an order, and what was proved of its retries.

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, OrderId, RequestId};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{OrderView, OrdersClient};
use crate::CallError;

/// The request that an order was accepted from, as far as it is kept. Its headers and its exact bytes are not.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedRequest {
    /// Absent of orders that were placed before this was kept, as `key_id` is.
    pub request_id: Option<RequestId>,
    pub received_at: DateTime<Utc>,
    pub idempotency_key: String,
    /// As it was understood: in the fields of `spec.md` §2.1, with the pickup that the profile filled in.
    pub body: Value,
    pub key_id: Option<ApiKeyId>,
    /// Since then the body tells nothing of people.
    #[serde(default)]
    pub personal_data_erased_at: Option<DateTime<Utc>>,
}

/// `GET /internal/businesses/{id}/orders/activity`: how busy a business is, in each mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrdersActivity {
    pub live: ModeActivity,
    pub test: ModeActivity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModeActivity {
    /// When the latest order was placed.
    pub last_at: Option<DateTime<Utc>>,
    /// Placed in the last 24 hours; 100000 stands for more.
    pub last24h: i64,
    /// Whose payment is not decided yet; 100000 stands for more. Test orders are paid by nobody.
    pub pending: i64,
}

/// An order of any business.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundOrder {
    pub business_id: BusinessId,
    pub order: OrderView,
}

/// `GET /internal/businesses/{id}/retry-evidence`: which retries a business was seen to make with Test keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryEvidence {
    /// A request that was answered from what its first sending brought.
    pub duplicate: Option<RetryProof>,
    /// A request that failed, and succeeded later under the same Idempotency-Key.
    pub failure: Option<RetryProof>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryProof {
    pub at: DateTime<Utc>,
    /// The first request, if its id is known, and the one that proves the retry.
    pub request_ids: Vec<RequestId>,
}

#[derive(Serialize)]
struct Code<'a> {
    code: &'a str,
}

impl OrdersClient {
    /// `GET /internal/businesses/{id}/orders/{order}/request`
    pub async fn request(&self, business: BusinessId, order: &str) -> Result<AcceptedRequest, CallError> {
        self.0.get(&["businesses", &business.to_string(), "orders", order, "request"]).await
    }

    /// `POST /internal/businesses/{id}/orders/{order}/cancel` with the caller's `{reason?}`, or nothing
    pub async fn cancel(
        &self,
        business: BusinessId,
        order: &str,
        body: &Value,
    ) -> Result<OrderView, CallError> {
        let path = ["businesses", &business.to_string(), "orders", order, "cancel"];
        self.0.send(Method::POST, &path, body).await
    }

    /// `GET /internal/businesses/{id}/orders/activity`
    pub async fn activity(&self, business: BusinessId) -> Result<OrdersActivity, CallError> {
        self.0.get(&["businesses", &business.to_string(), "orders", "activity"]).await
    }

    /// `GET /internal/businesses/{id}/retry-evidence`
    pub async fn retry_evidence(&self, business: BusinessId) -> Result<RetryEvidence, CallError> {
        self.0.get(&["businesses", &business.to_string(), "retry-evidence"]).await
    }

    /// `GET /internal/orders?code=`: the orders of all businesses that are called exactly so, by id, tracking code or
    /// reference; at most 20
    pub async fn find_anywhere(&self, code: &str) -> Result<Vec<FoundOrder>, CallError> {
        self.0.get_with(&["orders"], &Code { code }).await
    }

    /// As [`OrdersClient::find_anywhere`], for an id.
    pub async fn business_of(&self, order: OrderId) -> Result<Option<BusinessId>, CallError> {
        let found = self.find_anywhere(&order.to_string()).await?;
        Ok(found.into_iter().find(|found| found.order.id == order).map(|found| found.business_id))
    }
}
