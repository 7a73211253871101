//! Responses with orders, as the document describes them: with the mark of masked data, which the guard adds.

use chrono::{DateTime, Utc};
use domain::OrderId;
use internal_api::orders::{EvidenceView, ExceptionCounts, ExceptionLimits, OrderView, SimulatedOrderView};
use internal_api::webhooks::DeliveryDetails;
use serde::Serialize;
use utoipa::ToSchema;

/// An order as the role of the user sees it. Without the permission `read_customers`, phones are shortened to their last four
/// digits, addresses to city, state and PIN code, and e-mail addresses, notes and reasons are null.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownOrder {
    #[serde(flatten)]
    order: OrderView,
    /// Whether personal data of the order is masked for the role. Left out otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    personal_data_masked: Option<bool>,
}

/// A page of orders, newest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownOrders {
    data: Vec<ShownOrder>,
    /// Whether more orders follow, or may follow.
    has_more: bool,
    /// The `startingAfter` of the next page, if it is not the last id. A page of a search may be short or even empty, and older
    /// orders follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<OrderId>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownExceptions {
    counts: ExceptionCounts,
    /// The attempts that the operator makes at a delivery.
    attempts_max: u32,
    #[schema(required)]
    limits: Option<ExceptionLimits>,
    data: Vec<ShownException>,
    /// Whether there are more than are listed.
    has_more: bool,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ShownException {
    #[serde(flatten)]
    order: ShownOrder,
    /// Since when it is in its state. Neither a correction nor a request of the business changes it.
    #[schema(required)]
    since: Option<DateTime<Utc>>,
}

/// The evidence as the role of the user sees it. Without the permission `read_customers`, reasons, places, names, photos and
/// `personal` are null.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownEvidence {
    #[serde(flatten)]
    evidence: EvidenceView,
    /// Whether personal data is masked for the role. Left out otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    personal_data_masked: Option<bool>,
}

/// As [`ShownOrder`].
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownSimulation {
    #[serde(flatten)]
    order: SimulatedOrderView,
    /// Whether personal data of the order is masked for the role. Left out otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    personal_data_masked: Option<bool>,
}

/// A delivery as the role of the user sees it. Without the permission `read_customers`, the body contains neither the driver's
/// phone nor reasons, and numbers as long as phones are shortened in the endpoint's responses.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownDelivery {
    #[serde(flatten)]
    delivery: DeliveryDetails,
    /// Whether personal data is masked for the role: the body is not the signed one then. Left out otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    personal_data_masked: Option<bool>,
}
