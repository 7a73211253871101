//! webhook-dispatcher, asked by portal-api: endpoints, their tests, and the delivery log; asked by order-api: what became
//! of an order's events.

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
    /// Its latest delivery failed.
    Failing,
    /// By its owner.
    Paused,
    /// By us: it answered 410, or only failed for days.
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
    /// Whether the latest test that was passed was followed by a refusal of a wrong signature; null when that is not known.
    #[serde(default)]
    pub forged_refused: Option<bool>,
    /// Present while the secret is being rotated.
    pub next_secret: Option<NextSecret>,
    /// The most per second that its owner wants; the operator's limit when null.
    pub max_per_second: Option<i32>,
    /// Deliveries that came or waited while it was disabled; 100000 stands for more.
    pub parked_deliveries: i64,
    /// Present while every attempt fails, or it is disabled.
    pub trouble: Option<Trouble>,
    pub created_at: DateTime<Utc>,
}

/// What is wrong with an endpoint, and what will come of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    pub failing_since: Option<DateTime<Utc>>,
    /// Then it is disabled, if every attempt fails until then.
    pub disables_at: Option<DateTime<Utc>>,
    /// Nothing is sent to it until then, since it only fails; afterwards one webhook at a time, to see.
    pub resting_until: Option<DateTime<Utc>>,
    pub disabled_at: Option<DateTime<Utc>>,
    pub disabled_reason: Option<String>,
    /// Newest first.
    pub notices: Vec<Notice>,
}

/// So much of the time that an endpoint may only fail had passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// 50, 80 or 100.
    pub percent: i32,
    pub at: DateTime<Utc>,
}

/// A new signing secret, which signs beside the present one until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NextSecret {
    pub activates_at: DateTime<Utc>,
}

/// The portal's “last delivery” indicator: the label is `Never` until the first (`spec.md` §2.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastDelivery {
    pub at: Option<DateTime<Utc>>,
    /// `Never`, `Succeeded` or `Failed`.
    pub label: String,
}

/// The one answer to create, or to rotate, that carries the signing secret.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct CreatedEndpoint {
    #[serde(flatten)]
    pub view: EndpointView,
    pub secret: String,
}

/// Where a delivery stands.
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
    /// All attempts are used up.
    Failed,
    /// Called off: its endpoint was deleted or no longer wants the event.
    Discarded,
    /// Kept while its endpoint is disabled, until its owner has it replayed or discarded.
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
    /// Of the latest attempt; null when no answer came.
    pub last_response_status: Option<i32>,
    /// The latest failure, in words.
    pub last_error: Option<String>,
    /// Since then later events of its order no longer wait for it: its endpoint took others, and not this one.
    pub stepped_aside_at: Option<DateTime<Utc>>,
}

/// A page of the log, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveriesPage {
    pub data: Vec<DeliveryView>,
    /// Whether more may follow: a filter that finds little looks through only so much of the log for one page.
    pub has_more: bool,
    /// What to send as `startingAfter` for the next page.
    pub continue_after: Option<WebhookDeliveryId>,
}

/// What asking to send a delivery again did.
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
    /// It was over, and is to be sent again.
    Queued,
    /// It waited for its next attempt, which is to be made now.
    BroughtForward,
    /// It is being sent at this moment, or just about to.
    UnderWay,
    /// An earlier event of its order is to be sent before.
    WaitsItsTurn,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Redelivered {
    #[serde(flatten)]
    pub view: DeliveryView,
    pub redelivery: Redelivery,
}

/// Where a recovery stands.
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
    /// All was handed to the senders.
    Completed,
    Cancelled,
}

/// A job that sends again what an endpoint missed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryView {
    pub id: RecoveryId,
    pub endpoint_id: EndpointId,
    pub status: RecoveryState,
    pub since: DateTime<Utc>,
    pub until: DateTime<Utc>,
    /// In deliveries. Of very many, as far as they are counted: it grows while the job runs.
    pub total: i64,
    /// How many of them are sent, or about to be.
    pub done: i64,
    pub created_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
}

/// Whether a signature fits, and why not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignatureFindings {
    pub matches: bool,
    pub string_to_sign: String,
    pub expected: String,
    pub received: String,
    pub problems: Vec<SignatureProblem>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignatureProblem {
    pub code: String,
    /// What to do about it.
    pub message: String,
}

/// A delivery with every try and the body that was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryDetails {
    #[serde(flatten)]
    pub view: DeliveryView,
    pub request_body: String,
    pub attempt_log: Vec<AttemptView>,
}

/// One HTTP try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptView {
    pub number: i32,
    /// Always `POST`.
    pub method: String,
    /// Where it went, which may be elsewhere than where the endpoint is now. Unknown of the oldest attempts.
    pub url: Option<String>,
    pub started_at: DateTime<Utc>,
    pub duration_ms: i64,
    pub response_status: Option<i32>,
    pub succeeded: bool,
    /// Why it failed, in words a developer understands.
    pub error: Option<String>,
    #[schema(value_type = Object)]
    pub request_headers: Value,
    #[schema(value_type = Object)]
    pub response_headers: Value,
    /// The first 16 KiB.
    pub response_body: Option<String>,
}

/// What a test of an endpoint brought, right away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestResult {
    pub event_id: EventId,
    pub succeeded: bool,
    pub response_status: Option<i32>,
    pub duration_ms: i64,
    pub error: Option<String>,
    /// Whether the receiver then refused a webhook with a wrong signature. Null when none was sent, because the signed one
    /// was not taken, or when it could not be told.
    #[serde(default)]
    pub forged_refused: Option<bool>,
    #[serde(default)]
    pub forged_event_id: Option<EventId>,
    #[serde(default)]
    pub forged_response_status: Option<i32>,
    /// What is wrong with the receiver's answer to a wrong signature, in words.
    #[serde(default)]
    pub forged_problem: Option<String>,
}

/// An endpoint took a signed webhook and refused one with a wrong signature.
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
    /// The worst status among the endpoints; absent when there is none.
    pub status: Option<EndpointStatus>,
    pub connection_test: ConnectionTest,
    /// The first of its endpoints that did, if any.
    #[serde(default)]
    pub verified: Option<WebhookVerified>,
}

/// What became of one event of an order at one endpoint.
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
    /// Absent when no answer came.
    pub last_response_status: Option<i32>,
    /// The latest failure, in words.
    pub last_error: Option<String>,
    pub next_attempt_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub completed_at: Option<DateTime<Utc>>,
}

/// Which part of an order's deliveries is wanted: those that came to be after `after`, and of those of that very moment
/// the ones whose ids sort behind `after_id`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderDeliveriesQuery {
    /// 1 to 100.
    pub limit: usize,
    pub after: Option<DateTime<Utc>>,
    pub after_id: Option<String>,
}
