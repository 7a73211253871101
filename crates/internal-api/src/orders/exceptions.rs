//! The live orders that need attention: of a business, and of all for the operator.

use chrono::{DateTime, Utc};
use domain::BusinessId;
use serde::{Deserialize, Serialize};
use strum::EnumString;
use utoipa::ToSchema;

use super::{OrderView, OrdersClient};
use crate::CallError;

/// Why an order needs attention: the fleet has the parcel after a failed attempt, without a decision or late; no driver took it;
/// or nothing was reported about a parcel on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumString, ToSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ExceptionKind {
    Failed,
    Unassigned,
    Stuck,
}

/// Whether the business asked for another attempt or the return of an order; `pending` for what it asked for and has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumString, ToSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DecisionFilter {
    Asked,
    None,
    Pending,
}

/// The number of orders of each kind; 1000 means 1,000 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExceptionCounts {
    pub failed: i64,
    pub unassigned: i64,
    pub stuck: i64,
}

/// How long the operator's fleet may take before an order needs attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionLimits {
    /// Without a driver.
    pub unassigned_minutes: u32,
    /// Without a report about a parcel on its way.
    pub silent_minutes: u32,
}

/// An order that needs attention.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct ExceptionOrder {
    #[serde(flatten)]
    pub order: OrderView,
    /// Since when it is in its state. Neither a correction nor a request of the business changes it.
    #[serde(default)]
    #[schema(required)]
    pub since: Option<DateTime<Utc>>,
}

/// An order that needs attention, with its business.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundException {
    pub business_id: BusinessId,
    pub order: ExceptionOrder,
}

/// Orders of one kind, newest first.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionsPage {
    pub counts: ExceptionCounts,
    /// The attempts that the operator makes at a delivery.
    pub attempts_max: u32,
    #[serde(default)]
    pub limits: Option<ExceptionLimits>,
    pub data: Vec<ExceptionOrder>,
    /// Whether there are more than are listed.
    pub has_more: bool,
}

/// As [`ExceptionsPage`], of any business. Orders after the first 256 KiB have no items.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundExceptions {
    pub counts: ExceptionCounts,
    pub attempts_max: u32,
    pub limits: ExceptionLimits,
    pub data: Vec<FoundException>,
    pub has_more: bool,
}

#[derive(Serialize)]
struct ExceptionsQuery {
    kind: ExceptionKind,
    decision: Option<DecisionFilter>,
    /// Only its orders.
    business: Option<BusinessId>,
    /// Only orders to it.
    area: Option<String>,
}

impl OrdersClient {
    /// `GET /internal/businesses/{id}/exceptions?kind=&decision=`: at most 100 orders
    pub async fn exceptions(
        &self,
        business: BusinessId,
        kind: ExceptionKind,
        decision: Option<DecisionFilter>,
    ) -> Result<ExceptionsPage, CallError> {
        let query = ExceptionsQuery { kind, decision, business: None, area: None };
        self.0.get_with(&["businesses", &business.to_string(), "exceptions"], &query).await
    }

    /// `GET /internal/orders/exceptions?kind=&decision=&business=&area=`: at most 100 orders of one business or of all, to any
    /// address or to a city or PIN code that begins like `area`
    pub async fn exceptions_anywhere(
        &self,
        kind: ExceptionKind,
        decision: Option<DecisionFilter>,
        business: Option<BusinessId>,
        area: Option<String>,
    ) -> Result<FoundExceptions, CallError> {
        let query = ExceptionsQuery { kind, decision, business, area };
        self.0.get_with(&["orders", "exceptions"], &query).await
    }

    /// `GET /internal/orders/exceptions/counts`: those of all businesses
    pub async fn exception_counts(&self) -> Result<ExceptionCounts, CallError> {
        self.0.get(&["orders", "exceptions", "counts"]).await
    }
}
