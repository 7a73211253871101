//! Support functions for orders: the original request, cancelling from the portal, activity of a business, search
//! across businesses, evidence of retries, and the packages for integrators.

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, DeliveryStatus, OrderId, RequestId, RequestedBy};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ExceptionCounts, ExceptionLimits, OrderView, OrdersClient, SeenDecision};
use crate::CallError;

/// The request that created an order, as far as it is stored. Its headers and exact bytes are not.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedRequest {
    pub request_id: RequestId,
    pub received_at: DateTime<Utc>,
    pub idempotency_key: String,
    /// The parsed body, in the fields of SPECIFICATION §2.1, with the pickup from the profile.
    pub body: Value,
    pub key_id: ApiKeyId,
    /// Since then the body contains no personal data.
    #[serde(default)]
    pub personal_data_erased_at: Option<DateTime<Utc>>,
}

/// `GET /internal/businesses/{id}/orders/activity`: the order activity of a business in each mode.
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
    /// Orders of the last 24 hours; 100000 means 100,000 or more.
    pub last24h: i64,
    /// Orders whose payment is undecided; 100000 means 100,000 or more. Always 0 for test orders.
    pub pending: i64,
}

/// `GET /internal/businesses/{id}/orders/live`: the live orders of a business, for its home page. The counts of recent
/// orders stop at [`RECENT_ORDERS_MAX`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LiveOrders {
    /// When the latest order was placed.
    pub last_at: Option<DateTime<Utc>>,
    /// The orders since the given start of the day, by status; a status without orders is left out.
    pub today: Vec<StatusCount>,
    /// The orders of the last seven days that ended without being cancelled, and those of them that were delivered.
    pub ended: i64,
    pub delivered: i64,
    /// The orders of any age that need attention.
    pub attention: ExceptionCounts,
    /// When an order begins to need attention.
    #[serde(default)]
    #[schema(required)]
    pub attention_limits: Option<ExceptionLimits>,
}

/// The most recent orders that [`LiveOrders`] counts.
pub const RECENT_ORDERS_MAX: i64 = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StatusCount {
    pub status: DeliveryStatus,
    pub orders: i64,
}

#[derive(Serialize)]
struct Since {
    since: DateTime<Utc>,
}

/// An order with its business.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundOrder {
    pub business_id: BusinessId,
    pub order: OrderView,
}

/// `GET /internal/businesses/{id}/retry-evidence`: the retries that a business made with Test keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryEvidence {
    /// A repeated request that was answered with the stored response.
    pub duplicate: Option<RetryProof>,
    /// A request that failed first and succeeded later under the same Idempotency-Key.
    pub failure: Option<RetryProof>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryProof {
    pub at: DateTime<Utc>,
    /// The first request, if its id is known, and the request that proves the retry.
    pub request_ids: Vec<RequestId>,
}

#[derive(Serialize)]
struct Code<'a> {
    code: &'a str,
}

/// A search across businesses.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchAnywhere {
    /// Needed without a city and a period.
    pub search: Option<String>,
    /// The beginning of the city of the delivery.
    pub city: Option<String>,
    pub status: Option<String>,
    /// Only its orders.
    pub business: Option<BusinessId>,
    /// Inclusive.
    pub created_from: Option<String>,
    /// Exclusive.
    pub created_until: Option<String>,
    pub limit: usize,
    pub starting_after: Option<String>,
}

/// A page of orders of any business: the exact matches of the text, and then the newest first.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundOrdersPage {
    pub data: Vec<FoundOrder>,
    pub has_more: bool,
    /// The `startingAfter` of the next page, if it is not the last id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<OrderId>,
}

#[derive(Default, Serialize)]
struct DecisionQuery {
    seen: Option<String>,
    by: Option<RequestedBy>,
}

impl DecisionQuery {
    fn new(seen: Option<SeenDecision>, by: RequestedBy) -> Self {
        Self { seen: seen.map(|seen| seen.to_string()), by: Some(by) }
    }
}

impl OrdersClient {
    /// `GET /internal/businesses/{id}/orders/{order}/request`
    pub async fn request(&self, business: BusinessId, order: &str) -> Result<AcceptedRequest, CallError> {
        self.0.get(&["businesses", &business.to_string(), "orders", order, "request"]).await
    }

    /// `POST /internal/businesses/{id}/orders/{order}/cancel` with the caller's optional `{reason?}`
    pub async fn cancel(
        &self,
        business: BusinessId,
        order: &str,
        body: &Value,
    ) -> Result<OrderView, CallError> {
        let path = ["businesses", &business.to_string(), "orders", order, "cancel"];
        self.0.send(Method::POST, &path, body).await
    }

    /// `POST /internal/businesses/{id}/orders/{order}/reattempt?seen=&by=` with the caller's optional `{date?, note?}`. With
    /// `seen`, order-api refuses the request if the order has another decision.
    pub async fn reattempt(
        &self,
        business: BusinessId,
        order: &str,
        seen: Option<SeenDecision>,
        by: RequestedBy,
        body: &Value,
    ) -> Result<OrderView, CallError> {
        self.after_failure(business, order, ("reattempt", DecisionQuery::new(seen, by)), body).await
    }

    /// `POST /internal/businesses/{id}/orders/{order}/return?seen=&by=`, with `seen` as in [`Self::reattempt`]
    pub async fn request_return(
        &self,
        business: BusinessId,
        order: &str,
        seen: Option<SeenDecision>,
        by: RequestedBy,
    ) -> Result<OrderView, CallError> {
        self.after_failure(business, order, ("return", DecisionQuery::new(seen, by)), &Value::Null).await
    }

    /// `POST /internal/businesses/{id}/orders/{order}/delivery-details` with the caller's `{phone?, delivery?}`
    pub async fn correct_delivery(
        &self,
        business: BusinessId,
        order: &str,
        body: &Value,
    ) -> Result<OrderView, CallError> {
        self.after_failure(business, order, ("delivery-details", DecisionQuery::default()), body).await
    }

    async fn after_failure(
        &self,
        business: BusinessId,
        order: &str,
        (call, query): (&str, DecisionQuery),
        body: &Value,
    ) -> Result<OrderView, CallError> {
        let path = ["businesses", &business.to_string(), "orders", order, call];
        self.0.send_with(Method::POST, &path, &query, body).await
    }

    /// `GET /internal/businesses/{id}/orders/activity`
    pub async fn activity(&self, business: BusinessId) -> Result<OrdersActivity, CallError> {
        self.0.get(&["businesses", &business.to_string(), "orders", "activity"]).await
    }

    /// `GET /internal/businesses/{id}/orders/live?since=`: `since` is the start of the day
    pub async fn live(&self, business: BusinessId, since: DateTime<Utc>) -> Result<LiveOrders, CallError> {
        self.0.get_with(&["businesses", &business.to_string(), "orders", "live"], &Since { since }).await
    }

    /// `GET /internal/businesses/{id}/retry-evidence`
    pub async fn retry_evidence(&self, business: BusinessId) -> Result<RetryEvidence, CallError> {
        self.0.get(&["businesses", &business.to_string(), "retry-evidence"]).await
    }

    /// `GET /internal/packages`: the names of the packages that `/docs/downloads` serves
    pub async fn packages(&self) -> Result<Vec<String>, CallError> {
        self.0.get(&["packages"]).await
    }

    /// `GET /internal/orders?code=`: at most 20 orders of any business whose id, tracking code or reference is exactly
    /// `code`
    pub async fn find_anywhere(&self, code: &str) -> Result<Vec<FoundOrder>, CallError> {
        self.0.get_with(&["orders"], &Code { code }).await
    }

    /// `GET /internal/orders/search`: a page of the orders that a search finds
    pub async fn search_anywhere(&self, search: &SearchAnywhere) -> Result<FoundOrdersPage, CallError> {
        self.0.get_with(&["orders", "search"], search).await
    }

    /// As [`OrdersClient::find_anywhere`], for an id.
    pub async fn business_of(&self, order: OrderId) -> Result<Option<BusinessId>, CallError> {
        let found = self.find_anywhere(&order.to_string()).await?;
        Ok(found.into_iter().find(|found| found.order.id == order).map(|found| found.business_id))
    }
}
