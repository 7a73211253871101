//! Endpoints of order-api: the orders of a business.

mod after_failure;
mod business_events;
pub mod details;
mod erasure;
mod evidence;
mod exceptions;
mod open;
mod support;

use chrono::{DateTime, Utc};
use domain::schema::open_words;
use domain::{
    BusinessId, CodStatus, DeliveryStatus, EndpointId, EventId, EventKind, Mode, OrderId, Paise,
    TrackingCode, TransferId, WebhookDeliveryId,
};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AnyOfBuilder, ArrayBuilder, ObjectBuilder, Type};

use crate::webhooks::DeliveryState;
use crate::{CallError, Page, PageQuery, Peer};

pub use after_failure::{CorrectionView, ReattemptView, SeenDecision, reason_code, requested_by};
pub use business_events::{BusinessEventView, BusinessEventsPage, BusinessEventsQuery};
pub use erasure::{BusinessErasureView, ErasureView};
pub use evidence::{DeliveryCodeView, EvidenceAttempt, EvidenceOrder, EvidenceView};
pub use exceptions::{
    DecisionFilter, ExceptionCounts, ExceptionKind, ExceptionLimits, ExceptionOrder, ExceptionsPage,
    FoundException, FoundExceptions,
};
pub use open::OpenOrders;
pub use support::{
    AcceptedRequest, FoundOrder, FoundOrdersPage, LiveOrders, ModeActivity, OrdersActivity,
    RECENT_ORDERS_MAX, RetryEvidence, RetryProof, SearchAnywhere, StatusCount,
};

/// The current state of an order. The integration API and the portal share this shape.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderView {
    pub id: OrderId,
    /// The same value as `id`.
    pub service_order_id: OrderId,
    /// The business's id of the order.
    pub order_reference: String,
    /// Where the customer placed the order.
    pub order_source: String,
    pub tracking_code: TrackingCode,
    /// A page that shows the customer where the parcel is.
    #[schema(format = "uri")]
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
    #[schema(value_type = details::Package)]
    pub package: Value,
    #[schema(value_type = details::Payment)]
    pub payment: Value,
    #[schema(value_type = details::Notes)]
    pub notes: Value,
    /// The fee that a live order took from the wallet; 0 for a test order.
    pub fee_charged_paise: Paise,
    /// The amount that goes back to the wallet: the whole fee of a live order that was cancelled, or failed, before its
    /// pickup; otherwise 0.
    #[serde(default)]
    #[schema(required)]
    pub refunded_paise: Paise,
    /// The driver, once one is assigned.
    #[schema(value_type = Option<details::DriverView>)]
    pub driver: Value,
    /// Why the delivery failed, was cancelled or returned.
    pub reason: Option<String>,
    #[serde(default)]
    #[schema(schema_with = reason_code)]
    pub reason_code: Option<String>,
    /// The attempts that failed after the pickup.
    #[serde(default)]
    #[schema(required)]
    pub failed_attempts: u32,
    /// The attempt that the business asked for after the latest failure.
    #[serde(default)]
    pub reattempt: Option<ReattemptView>,
    /// Whether another attempt can be asked for now: the fleet has the parcel after one that failed, and has not made all
    /// attempts.
    #[serde(default)]
    #[schema(required)]
    pub reattempt_possible: bool,
    /// What another attempt that is asked for now takes from the wallet when it begins: by the rule of the operator, or as it was
    /// announced before. 0 if none can be asked for, if its fee is taken already, and for a test order.
    #[serde(default)]
    #[schema(required)]
    pub reattempt_fee_paise: Paise,
    /// The fees of the order's attempts that began, in all: taken from the wallet, or owed. They are not refunded.
    #[serde(default)]
    #[schema(required)]
    pub reattempt_fees_paise: Paise,
    /// When the business asked for the parcel after the latest failure.
    #[serde(default)]
    pub return_requested_at: Option<DateTime<Utc>>,
    #[serde(default)]
    #[schema(schema_with = requested_by)]
    pub return_requested_by: Option<String>,
    /// The latest ten corrections of the phone or the address, oldest first.
    #[serde(default)]
    #[schema(required)]
    pub corrections: Vec<CorrectionView>,
    /// The cash that the driver reported; null before its collection.
    #[serde(default)]
    pub cod_collected_paise: Option<Paise>,
    /// The cash that was handed over; null before.
    #[serde(default)]
    pub cod_handed_over_paise: Option<Paise>,
    /// The cash that was settled with the business; null before.
    #[serde(default)]
    pub cod_settled_paise: Option<Paise>,
    /// The latest of these three amounts that differs from the cash to be collected.
    pub cod_discrepancy_paise: Option<Paise>,
    /// That amount minus the cash to be collected: negative when cash is missing. Null once the whole amount is settled.
    #[serde(default)]
    pub cod_difference_paise: Option<Paise>,
    /// When the first request for the order arrived.
    pub created_at: DateTime<Utc>,
    /// When the order last changed.
    pub updated_at: DateTime<Utc>,
    /// When the order's personal data was erased; null before. Erased fields are null: names, phones, addresses, notes, the
    /// driver, the reason and the contents of the parcel. The PIN code of an address is kept.
    #[serde(default)]
    pub personal_data_erased_at: Option<DateTime<Utc>>,
}

/// One entry of an order's timeline, by its `type`. Each has an `id` and a `recordedAt`, which order the list.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TimelineEntry {
    Status(OrderEventView),
    Money(MoneyView),
    Webhook(WebhookOutcomeView),
}

impl TimelineEntry {
    /// The sort key of the list.
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
    /// Whether more entries follow.
    pub has_more: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(schema_with = sources)]
    pub incomplete: Vec<String>,
}

/// Money that the order took from the wallet, or that the wallet got back.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoneyView {
    pub id: TransferId,
    #[schema(schema_with = money_kind)]
    pub kind: String,
    /// Negative when money leaves the wallet. Zero for what is owed of the fee of another attempt.
    pub amount_paise: Paise,
    /// How much more the business owes. All amounts less all that is owed are what the order cost.
    #[serde(default)]
    #[schema(required)]
    pub owed_paise: Paise,
    /// The balance of the wallet after this transfer.
    pub balance_after_paise: Paise,
    /// When the wallet posted it.
    pub recorded_at: DateTime<Utc>,
}

/// A webhook and its outcome. The entry is listed at the time at which the webhook was created; its outcome changes in place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookOutcomeView {
    /// Its id in the delivery log.
    pub id: WebhookDeliveryId,
    /// The event that the webhook carries.
    pub event_id: EventId,
    pub event: EventKind,
    /// The endpoint that receives it.
    pub endpoint_id: EndpointId,
    /// The status in the delivery log.
    pub status: DeliveryState,
    /// The former name of `status`.
    pub state: DeliveryState,
    /// The number of attempts so far.
    pub attempts: i32,
    pub last_attempt_at: Option<DateTime<Utc>>,
    /// The HTTP status that the endpoint answered with; null when it did not answer.
    pub last_response_status: Option<i32>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    pub next_attempt_at: Option<DateTime<Utc>>,
    /// When the delivery ended.
    pub completed_at: Option<DateTime<Utc>>,
    /// When the webhook was created.
    pub recorded_at: DateTime<Utc>,
}

/// A change of the order's status.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderEventView {
    /// Id of the event; its webhooks carry the same id.
    pub id: EventId,
    pub event: EventKind,
    /// Rises with each event of the order.
    pub sequence: i64,
    pub status: DeliveryStatus,
    pub cod_status: CodStatus,
    /// When it happened, by the fleet's clock, which can be wrong.
    pub occurred_at: DateTime<Utc>,
    /// When Waybill recorded it.
    pub recorded_at: DateTime<Utc>,
    #[schema(value_type = Object)]
    pub data: Value,
}

/// A test order after a simulated event, or after a simulation was started.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct SimulatedOrderView {
    #[serde(flatten)]
    pub order: OrderView,
    /// The events that can be simulated next.
    pub legal: Vec<EventKind>,
    /// The running simulation, if there is one.
    pub simulation: Option<SimulationView>,
}

/// A simulation that moves the order automatically.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimulationView {
    #[schema(schema_with = scenario)]
    pub scenario: String,
    pub next_event: Option<EventKind>,
    /// When the next event happens.
    pub next_at: DateTime<Utc>,
}

fn scenario() -> ObjectBuilder {
    let names = ["delivered", "failed", "cancelled", "no_driver"];
    let schema = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names));
    schema.description(Some("The outcome of the simulation."))
}

fn money_kind() -> AnyOfBuilder {
    let kinds = ["delivery_fee", "operator_debit", "operator_debit_shortfall", "refund"];
    let description = "Why the money moved. `operator_debit` takes the fee of another attempt; `operator_debit_shortfall` is what is owed of it.";
    open_words(kinds, description)
}

fn sources() -> ArrayBuilder {
    let description = "The services that did not answer, so their entries are missing: read the page again later. Left out when empty.";
    let source = open_words(["wallet", "webhook-dispatcher"], "A service.");
    ArrayBuilder::new().items(source).description(Some(description))
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
    pub cod_status: Option<String>,
    pub payment_type: Option<String>,
    /// Inclusive.
    pub created_from: Option<String>,
    /// Exclusive.
    pub created_until: Option<String>,
    /// Words of the customer, the address and the reference; an id or a tracking code.
    #[serde(default)]
    pub search: Option<String>,
    /// Whether the search may find phones; only with `search`.
    pub sees_phones: Option<bool>,
}

/// A page of orders, newest first.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrdersPage {
    pub data: Vec<OrderView>,
    pub has_more: bool,
    /// The `startingAfter` of the next page, if it is not the last id: a search looks at a bounded number of orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<OrderId>,
}

/// `GET /internal/businesses/{id}/test-orders/any`: whether the business ever placed a test order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnyTestOrder {
    pub exists: bool,
}

/// An order's id and reference, without personal data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderReference {
    pub id: OrderId,
    pub order_reference: String,
}

/// The most orders that [`OrdersClient::payments`] and [`OrdersClient::payments_changed`] return at once.
pub const PAYMENTS_MAX: usize = 1_000;

/// The payment of an order, against which the wallet reconciles its ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderPayment {
    pub id: OrderId,
    pub business_id: BusinessId,
    pub mode: Mode,
    /// Whether the order is placed. A live order is placed once its debit is posted.
    pub placed: bool,
    pub delivery_fee_paise: Paise,
    /// The cash to collect at the door; 0 for a prepaid order.
    pub cod_amount_paise: Paise,
    /// The position of that cash.
    pub cod_status: CodStatus,
    /// Whether the customer has the parcel.
    pub delivered: bool,
    /// The delivery ended before its pickup, so the fee is refunded.
    pub refund_due: bool,
    /// The last change of any kind.
    pub changed_at: DateTime<Utc>,
}

/// Selects changes after this position, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentsQuery {
    pub changed_after: DateTime<Utc>,
    /// Among changes at exactly `changed_after`, those after this order; without it, none of them.
    pub starting_after: Option<OrderId>,
    /// 1 to [`PAYMENTS_MAX`].
    pub limit: usize,
}

/// order-api's internal endpoints.
#[derive(Clone, Debug)]
pub struct OrdersClient(pub Peer);

impl OrdersClient {
    /// `GET /internal/businesses/{id}/orders`
    pub async fn list(&self, business: BusinessId, query: &OrdersQuery) -> Result<OrdersPage, CallError> {
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

    /// `POST /internal/businesses/{id}/order-references {ids}`: up to 100 orders; omits those of other businesses
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

    /// `GET /internal/orders/payments`: the placed live orders of all businesses by their last change, up to the time
    /// before which no more changes can appear
    pub async fn payments_changed(&self, query: &PaymentsQuery) -> Result<Page<OrderPayment>, CallError> {
        self.0.get_with(&["orders", "payments"], query).await
    }

    /// `POST /internal/orders/payments {ids}`: up to [`PAYMENTS_MAX`] orders of any business and mode, placed or not;
    /// omits unknown ids
    pub async fn payments(&self, ids: &[OrderId]) -> Result<Vec<OrderPayment>, CallError> {
        let body = serde_json::json!({ "ids": ids });
        self.0.send(Method::POST, &["orders", "payments"], &body).await
    }
}
