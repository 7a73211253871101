//! order-api, asked by portal-api: a business's orders.

pub mod details;
mod erasure;
mod support;

use chrono::{DateTime, Utc};
use domain::{
    BusinessId, CodStatus, DeliveryStatus, EndpointId, EventId, EventKind, Mode, OrderId, Paise,
    TrackingCode, TransferId, WebhookDeliveryId,
};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::webhooks::DeliveryState;
use crate::{CallError, Page, PageQuery, Peer};

pub use erasure::{BusinessErasureView, ErasureView};
pub use support::{AcceptedRequest, FoundOrder, ModeActivity, OrdersActivity, RetryEvidence, RetryProof};

/// An order, in the one shape that the integration API and the portal share. The details are those of `spec.md` §2.1.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderView {
    pub id: OrderId,
    /// The same value as `id` (`spec.md` §2.2).
    pub service_order_id: OrderId,
    pub order_reference: String,
    pub order_source: String,
    pub tracking_code: TrackingCode,
    pub tracking_url: String,
    pub status: DeliveryStatus,
    pub cod_status: CodStatus,
    pub mode: Mode,
    #[schema(value_type = details::Customer)]
    pub customer: Value,
    #[schema(value_type = details::DeliveryAddress)]
    pub delivery: Value,
    #[schema(value_type = Option<details::PickupPlace>)]
    pub pickup: Value,
    #[schema(value_type = Option<details::Package>)]
    pub package: Value,
    #[schema(value_type = details::Payment)]
    pub payment: Value,
    #[schema(value_type = Option<details::Notes>)]
    pub notes: Value,
    /// What the live order took from the wallet; 0 for a test order.
    pub fee_charged_paise: Paise,
    /// What goes back to the wallet: the whole fee of a live order that was cancelled, or failed, before its pickup.
    #[serde(default)]
    pub refunded_paise: Paise,
    /// The driver, once one is assigned.
    #[schema(value_type = Option<details::DriverView>)]
    pub driver: Value,
    /// Why the delivery failed, was cancelled or returned.
    pub reason: Option<String>,
    /// The cash that the fleet reported at each step of it; absent before the step.
    #[serde(default)]
    pub cod_collected_paise: Option<Paise>,
    #[serde(default)]
    pub cod_handed_over_paise: Option<Paise>,
    #[serde(default)]
    pub cod_settled_paise: Option<Paise>,
    /// The latest of these amounts that is not what was to be collected.
    pub cod_discrepancy_paise: Option<Paise>,
    /// By how much that amount is above (or, negative, below) what was to be collected.
    #[serde(default)]
    pub cod_difference_paise: Option<Paise>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// When what it told of people was erased: texts, contacts, addresses and the driver are null since; PIN codes,
    /// amounts and measures are not.
    #[serde(default)]
    pub personal_data_erased_at: Option<DateTime<Utc>>,
}

/// One entry of an order's timeline, by its `type`. Each has an `id` and a `recordedAt`; the list is ordered by them.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TimelineEntry {
    Status(OrderEventView),
    Money(MoneyView),
    Webhook(WebhookOutcomeView),
}

impl TimelineEntry {
    /// What the list is ordered by.
    pub fn position(&self) -> (DateTime<Utc>, String) {
        match self {
            Self::Status(entry) => (entry.recorded_at, entry.id.to_string()),
            Self::Money(entry) => (entry.recorded_at, entry.id.to_string()),
            Self::Webhook(entry) => (entry.recorded_at, entry.id.to_string()),
        }
    }
}

/// A page of an order's timeline, oldest first.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelinePage {
    pub data: Vec<TimelineEntry>,
    pub has_more: bool,
    /// Whose entries are missing because they did not answer: `wallet`, `webhook-dispatcher`. Read the page again later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<String>,
}

/// Money that the order took from the wallet, or that came back.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoneyView {
    pub id: TransferId,
    /// `delivery_fee` or `refund`.
    pub kind: String,
    /// Negative for money that leaves the wallet.
    pub amount_paise: Paise,
    pub balance_after_paise: Paise,
    pub recorded_at: DateTime<Utc>,
}

/// What became of a webhook. It stands where the webhook came to be; its outcome changes in place.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookOutcomeView {
    pub id: WebhookDeliveryId,
    pub event_id: EventId,
    pub event: EventKind,
    pub endpoint_id: EndpointId,
    /// As in the delivery log. An order-api of the former release does not say it.
    #[serde(default)]
    pub status: Option<DeliveryState>,
    /// The same as `status`, by its former name.
    pub state: DeliveryState,
    pub attempts: i32,
    pub last_attempt_at: Option<DateTime<Utc>>,
    /// Absent when no answer came.
    pub last_response_status: Option<i32>,
    pub last_error: Option<String>,
    pub next_attempt_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
    pub recorded_at: DateTime<Utc>,
}

/// A move of an order.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderEventView {
    pub id: EventId,
    pub event: EventKind,
    pub sequence: i64,
    pub status: DeliveryStatus,
    pub cod_status: CodStatus,
    /// When the fleet says it happened.
    pub occurred_at: DateTime<Utc>,
    /// When order-api wrote it down.
    pub recorded_at: DateTime<Utc>,
    #[schema(value_type = Object)]
    pub data: Value,
}

/// A test order after a simulated event, or with a run that has begun.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct SimulatedOrderView {
    #[serde(flatten)]
    pub order: OrderView,
    /// What can be simulated next.
    pub legal: Vec<EventKind>,
    /// The run that moves it on by itself, while there is one.
    pub simulation: Option<SimulationView>,
}

#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimulationView {
    /// How it ends: `delivered`, `failed`, `cancelled` or `no_driver`.
    pub scenario: String,
    pub next_event: Option<EventKind>,
    pub next_at: DateTime<Utc>,
}

/// Which orders are wanted. `limit` and `starting_after` as in every list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrdersQuery {
    pub mode: Option<Mode>,
    pub limit: Option<usize>,
    pub starting_after: Option<String>,
    pub order_reference: Option<String>,
    pub tracking_code: Option<String>,
    pub status: Option<String>,
    /// An id, a tracking code or a reference, exactly.
    #[serde(default)]
    pub search: Option<String>,
}

/// `GET /internal/businesses/{id}/test-orders/any`: whether a test order was ever placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnyTestOrder {
    pub exists: bool,
}

/// One order by its names, without anything personal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderReference {
    pub id: OrderId,
    pub order_reference: String,
}

/// As many orders as [`OrdersClient::payments`] and [`OrdersClient::payments_changed`] tell of at once.
pub const PAYMENTS_MAX: usize = 1_000;

/// What an order says of its money, for the wallet to hold its books against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderPayment {
    pub id: OrderId,
    pub business_id: BusinessId,
    pub mode: Mode,
    /// Whether it is anybody's order: a live one is once its debit was posted.
    pub placed: bool,
    pub delivery_fee_paise: Paise,
    /// The cash to be collected at the door; 0 for a prepaid order. `None` from an order-api that does not say it yet.
    #[serde(default)]
    pub cod_amount_paise: Option<Paise>,
    /// Where that cash is. `None` from an order-api that does not say it yet.
    #[serde(default)]
    pub cod_status: Option<CodStatus>,
    /// Whether the customer has the parcel. `None` from an order-api that does not say it yet.
    #[serde(default)]
    pub delivered: Option<bool>,
    /// The delivery ended before its pickup, so the fee goes back.
    pub refund_due: bool,
    /// The last change of any kind.
    pub changed_at: DateTime<Utc>,
}

/// Which changes are wanted: those behind this place, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentsQuery {
    pub changed_after: DateTime<Utc>,
    /// Among those that changed at that very time, behind this order; without it, behind all of them.
    pub starting_after: Option<OrderId>,
    /// 1 to [`PAYMENTS_MAX`].
    pub limit: usize,
}

/// order-api's internal endpoints.
#[derive(Clone, Debug)]
pub struct OrdersClient(pub Peer);

impl OrdersClient {
    /// `GET /internal/businesses/{id}/orders`
    pub async fn list(
        &self,
        business: BusinessId,
        query: &OrdersQuery,
    ) -> Result<Page<OrderView>, CallError> {
        self.0.get_with(&["businesses", &business.to_string(), "orders"], query).await
    }

    /// `GET /internal/businesses/{id}/orders/{order}`; either mode
    pub async fn get(&self, business: BusinessId, order: &str) -> Result<OrderView, CallError> {
        self.0.get(&["businesses", &business.to_string(), "orders", order]).await
    }

    /// `GET /internal/businesses/{id}/orders/{order}/events`
    pub async fn events(
        &self,
        business: BusinessId,
        order: &str,
        page: &PageQuery,
    ) -> Result<TimelinePage, CallError> {
        self.0.get_with(&["businesses", &business.to_string(), "orders", order, "events"], page).await
    }

    /// `POST /internal/businesses/{id}/orders/{order}/simulate` with the caller's `{event}`, which may be
    /// `auto`; test orders only
    pub async fn simulate(
        &self,
        business: BusinessId,
        order: &str,
        body: &Value,
    ) -> Result<SimulatedOrderView, CallError> {
        let path = ["businesses", &business.to_string(), "orders", order, "simulate"];
        self.0.send(Method::POST, &path, body).await
    }

    /// `POST /internal/businesses/{id}/order-references {ids}`: of up to 100 orders; those of other businesses are left out
    pub async fn references(
        &self,
        business: BusinessId,
        ids: &[OrderId],
    ) -> Result<Vec<OrderReference>, CallError> {
        let body = serde_json::json!({ "ids": ids });
        self.0.send(Method::POST, &["businesses", &business.to_string(), "order-references"], &body).await
    }

    /// `GET /internal/businesses/{id}/test-orders/any`
    pub async fn any_test_order(&self, business: BusinessId) -> Result<AnyTestOrder, CallError> {
        self.0.get(&["businesses", &business.to_string(), "test-orders", "any"]).await
    }

    /// `GET /internal/orders/payments`: the placed live orders of all businesses by their last change, as far as no change
    /// can come before them any more
    pub async fn payments_changed(&self, query: &PaymentsQuery) -> Result<Page<OrderPayment>, CallError> {
        self.0.get_with(&["orders", "payments"], query).await
    }

    /// `POST /internal/orders/payments {ids}`: of up to [`PAYMENTS_MAX`] orders of any business and mode, placed or not;
    /// those that do not exist are left out
    pub async fn payments(&self, ids: &[OrderId]) -> Result<Vec<OrderPayment>, CallError> {
        let body = serde_json::json!({ "ids": ids });
        self.0.send(Method::POST, &["orders", "payments"], &body).await
    }
}
