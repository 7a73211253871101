//! Endpoints of webhook-dispatcher: endpoints, their tests and the delivery log for portal-api; the webhooks of an
//! order for order-api.

mod client;

use chrono::{DateTime, Utc};
use domain::{EndpointId, EventId, EventKind, Mode, RecoveryId, WebhookDeliveryId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

pub use client::WebhooksClient;

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum EndpointStatus {
    Active,
    /// The latest delivery failed.
    Failing,
    /// The owner paused it.
    Paused,
    /// Disabled automatically: the endpoint answered 410 or failed for days.
    Disabled,
}

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ConnectionTest {
    NotTested,
    Passed,
    Failed,
}

/// A webhook endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointView {
    pub id: EndpointId,
    pub url: String,
    pub events: Vec<EventKind>,
    pub modes: Vec<Mode>,
    pub status: EndpointStatus,
    pub last_delivery: LastDelivery,
    pub connection_test: ConnectionTest,
    /// Whether the latest passed test was followed by a refusal of a wrong signature; null when unknown.
    #[serde(default)]
    pub forged_refused: Option<bool>,
    /// Present while the secret is being rotated.
    pub next_secret: Option<NextSecret>,
    /// The owner's limit of deliveries per second; null means the operator's limit.
    pub max_per_second: Option<i32>,
    /// Deliveries held while the endpoint is disabled; 100000 means 100,000 or more.
    pub parked_deliveries: i64,
    /// Present while every attempt fails or the endpoint is disabled.
    pub trouble: Option<Trouble>,
    pub created_at: DateTime<Utc>,
}

/// The problem of an endpoint, and its consequences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    pub failing_since: Option<DateTime<Utc>>,
    /// When the endpoint is disabled if every attempt fails until then.
    pub disables_at: Option<DateTime<Utc>>,
    /// No delivery is sent until then, because every attempt fails. Afterwards one delivery at a time probes the
    /// endpoint.
    pub resting_until: Option<DateTime<Utc>>,
    pub disabled_at: Option<DateTime<Utc>>,
    pub disabled_reason: Option<String>,
    /// Newest first.
    pub notices: Vec<Notice>,
}

/// The owner was warned: a share of the time after which a failing endpoint is disabled had passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// 50, 80 or 100.
    pub percent: i32,
    pub at: DateTime<Utc>,
}

/// A new signing secret, which signs alongside the current one until `activates_at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NextSecret {
    pub activates_at: DateTime<Utc>,
}

/// The portal's “last delivery” indicator. The label is `Never` before the first delivery (SPECIFICATION §2.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastDelivery {
    pub at: Option<DateTime<Utc>>,
    /// `Never`, `Succeeded` or `Failed`.
    pub label: String,
}

/// The only responses that contain the signing secret: to creating an endpoint and to rotating its secret.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct CreatedEndpoint {
    #[serde(flatten)]
    pub view: EndpointView,
    pub secret: String,
}

/// The status of a delivery.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
    ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DeliveryState {
    Pending,
    Succeeded,
    /// All attempts failed.
    Failed,
    /// Cancelled: the endpoint was deleted or no longer subscribes to the event.
    Discarded,
    /// Held because the endpoint is disabled. The owner decides whether to replay or discard it.
    Parked,
}

/// One event for one endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    pub id: WebhookDeliveryId,
    pub endpoint_id: EndpointId,
    pub event_id: EventId,
    pub event: EventKind,
    pub mode: Mode,
    pub order_reference: Option<String>,
    pub status: DeliveryState,
    pub attempts: i32,
    pub next_attempt_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub completed_at: Option<DateTime<Utc>>,
    /// Of the latest attempt; null without a response.
    pub last_response_status: Option<i32>,
    /// The latest failure.
    pub last_error: Option<String>,
    /// Since then this delivery no longer delays later events of its order, because the endpoint accepts other
    /// deliveries.
    pub stepped_aside_at: Option<DateTime<Utc>>,
}

/// A page of the log, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveriesPage {
    pub data: Vec<DeliveryView>,
    /// Whether more entries may follow. A page searches only a bounded part of the log, so a filtered page can be
    /// short.
    pub has_more: bool,
    /// The `startingAfter` of the next page.
    pub continue_after: Option<WebhookDeliveryId>,
}

/// The effect of a request to redeliver.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Redelivery {
    /// It had ended and will be sent again.
    Queued,
    /// It waited for its next attempt, which starts now.
    BroughtForward,
    /// An attempt is running. Another follows.
    UnderWay,
    /// An earlier event of its order must be sent first.
    WaitsItsTurn,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Redelivered {
    #[serde(flatten)]
    pub view: DeliveryView,
    pub redelivery: Redelivery,
}

/// The status of a recovery.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RecoveryState {
    Running,
    /// All deliveries are queued.
    Completed,
    Cancelled,
}

/// A job that resends the events that an endpoint missed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryView {
    pub id: RecoveryId,
    pub endpoint_id: EndpointId,
    pub status: RecoveryState,
    pub since: DateTime<Utc>,
    pub until: DateTime<Utc>,
    /// The number of deliveries. Of a large recovery, the number counted so far: it grows while the job runs.
    pub total: i64,
    /// The number of deliveries that are sent or queued.
    pub done: i64,
    pub created_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
}

/// The result of a signature check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignatureFindings {
    pub matches: bool,
    pub string_to_sign: String,
    pub received: String,
    pub problems: Vec<SignatureProblem>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignatureProblem {
    pub code: String,
    /// How to fix it.
    pub message: String,
}

/// A delivery with all attempts and the request body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryDetails {
    #[serde(flatten)]
    pub view: DeliveryView,
    pub request_body: String,
    pub attempt_log: Vec<AttemptView>,
}

/// One HTTP request of a delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptView {
    pub number: i32,
    /// Always `POST`.
    pub method: String,
    /// The URL of the request. The endpoint's URL may have changed since. Absent for the oldest attempts.
    pub url: Option<String>,
    pub started_at: DateTime<Utc>,
    pub duration_ms: i64,
    pub response_status: Option<i32>,
    pub succeeded: bool,
    /// The reason of the failure.
    pub error: Option<String>,
    #[schema(value_type = Object)]
    pub request_headers: Value,
    #[schema(value_type = Object)]
    pub response_headers: Value,
    /// The first 16 KiB.
    pub response_body: Option<String>,
}

/// The result of an endpoint's test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestResult {
    pub event_id: EventId,
    pub succeeded: bool,
    pub response_status: Option<i32>,
    pub duration_ms: i64,
    pub error: Option<String>,
    /// Whether the receiver refused a webhook with a wrong signature. Null when none was sent, because the signed
    /// webhook failed, or when the result is unclear.
    #[serde(default)]
    pub forged_refused: Option<bool>,
    #[serde(default)]
    pub forged_event_id: Option<EventId>,
    #[serde(default)]
    pub forged_response_status: Option<i32>,
    /// The problem with the receiver's response to the wrong signature.
    #[serde(default)]
    pub forged_problem: Option<String>,
}

/// An endpoint accepted a signed webhook and refused one with a wrong signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookVerified {
    pub at: DateTime<Utc>,
    pub test_event_id: EventId,
    pub forged_event_id: EventId,
}

/// `GET /internal/businesses/{id}/webhooks/summary`, for the status indicators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSummary {
    /// The worst status of the endpoints; absent without endpoints.
    pub status: Option<EndpointStatus>,
    pub connection_test: ConnectionTest,
    /// The first endpoint that verifies signatures, if any.
    #[serde(default)]
    pub verified: Option<WebhookVerified>,
}

/// The delivery of an order's event to one endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderDeliveryView {
    pub id: WebhookDeliveryId,
    pub event_id: EventId,
    pub event: EventKind,
    pub endpoint_id: EndpointId,
    pub state: DeliveryState,
    pub attempts: i32,
    pub last_attempt_at: Option<DateTime<Utc>>,
    /// Absent without a response.
    pub last_response_status: Option<i32>,
    /// The latest failure.
    pub last_error: Option<String>,
    pub next_attempt_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub completed_at: Option<DateTime<Utc>>,
}

/// Selects a part of an order's deliveries: those created after `after`, and those created exactly then whose ids are
/// greater than `after_id`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderDeliveriesQuery {
    /// 1 to 100.
    pub limit: usize,
    pub after: Option<DateTime<Utc>>,
    pub after_id: Option<String>,
}
