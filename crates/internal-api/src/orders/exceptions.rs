//! The live orders of a business that need its attention.

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

/// The number of orders of each kind; 1000 means 1,000 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExceptionCounts {
    pub failed: i64,
    pub unassigned: i64,
    pub stuck: i64,
}

/// Orders of one kind, newest change first.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionsPage {
    pub counts: ExceptionCounts,
    /// The attempts that the operator makes at a delivery.
    pub attempts_max: u32,
    pub data: Vec<OrderView>,
    /// Whether there are more than are listed.
    pub has_more: bool,
}

#[derive(Serialize)]
struct ExceptionsQuery {
    kind: ExceptionKind,
}

impl OrdersClient {
    /// `GET /internal/businesses/{id}/exceptions?kind=`: at most 100 orders
    pub async fn exceptions(
        &self,
        business: BusinessId,
        kind: ExceptionKind,
    ) -> Result<ExceptionsPage, CallError> {
        self.0.get_with(&["businesses", &business.to_string(), "exceptions"], &ExceptionsQuery { kind }).await
    }
}
