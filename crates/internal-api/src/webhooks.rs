//! webhook-dispatcher, asked by portal-api: endpoints, their tests, and the delivery log; asked by order-api: what became
//! of an order's events.

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, EventId, EventKind, Mode, OrderId, WebhookDeliveryId};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{Display, EnumString, IntoStaticStr};

use crate::{CallError, Page, PageQuery, Peer};

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Display, EnumString, IntoStaticStr,
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
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Display, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ConnectionTest {
    NotTested,
    Passed,
    Failed,
}

/// A webhook endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointView {
    pub id: EndpointId,
    pub url: String,
    pub events: Vec<EventKind>,
    pub modes: Vec<Mode>,
    pub status: EndpointStatus,
    pub last_delivery: LastDelivery,
    pub connection_test: ConnectionTest,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// 50, 80 or 100.
    pub percent: i32,
    pub at: DateTime<Utc>,
}

/// A new signing secret, which signs beside the present one until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NextSecret {
    pub activates_at: DateTime<Utc>,
}

/// The portal's “last delivery” indicator: the label is `Never` until the first (`spec.md` §2.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastDelivery {
    pub at: Option<DateTime<Utc>>,
    /// `Never`, `Succeeded` or `Failed`.
    pub label: String,
}

/// The one answer to create, or to rotate, that carries the signing secret.
#[derive(Clone, Serialize, Deserialize)]
pub struct CreatedEndpoint {
    #[serde(flatten)]
    pub view: EndpointView,
    pub secret: String,
}

/// Where a delivery stands.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Display, EnumString, IntoStaticStr,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The latest failure, in words.
    pub last_error: Option<String>,
}

/// A delivery with every try and the body that was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryDetails {
    #[serde(flatten)]
    pub view: DeliveryView,
    pub request_body: String,
    pub attempt_log: Vec<AttemptView>,
}

/// One HTTP try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptView {
    pub number: i32,
    pub started_at: DateTime<Utc>,
    pub duration_ms: i64,
    pub response_status: Option<i32>,
    pub succeeded: bool,
    /// Why it failed, in words a developer understands.
    pub error: Option<String>,
    pub request_headers: Value,
    pub response_headers: Value,
    /// The first 16 KiB.
    pub response_body: Option<String>,
}

/// What a test of an endpoint brought, right away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestResult {
    pub event_id: EventId,
    pub succeeded: bool,
    pub response_status: Option<i32>,
    pub duration_ms: i64,
    pub error: Option<String>,
}

/// `GET /internal/businesses/{id}/webhooks/summary`, for the status indicators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSummary {
    /// The worst status among the endpoints; absent when there is none.
    pub status: Option<EndpointStatus>,
    pub connection_test: ConnectionTest,
}

/// Which deliveries are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveriesQuery {
    pub limit: Option<usize>,
    pub starting_after: Option<String>,
    pub status: Option<String>,
    pub event: Option<String>,
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

/// webhook-dispatcher's internal endpoints.
#[derive(Clone, Debug)]
pub struct WebhooksClient(pub Peer);

impl WebhooksClient {
    /// `POST /internal/businesses/{id}/webhook-endpoints` with the caller's `{url, events?, modes?}`
    pub async fn create(&self, business: BusinessId, body: &Value) -> Result<CreatedEndpoint, CallError> {
        self.0.send(Method::POST, &endpoints(&business.to_string()), body).await
    }

    /// `GET /internal/businesses/{id}/webhook-endpoints`
    pub async fn list(
        &self,
        business: BusinessId,
        page: &PageQuery,
    ) -> Result<Page<EndpointView>, CallError> {
        self.0.get_with(&endpoints(&business.to_string()), page).await
    }

    /// `GET …/webhook-endpoints/{endpoint}`
    pub async fn get(&self, business: BusinessId, endpoint: &str) -> Result<EndpointView, CallError> {
        self.0.get(&["businesses", &business.to_string(), "webhook-endpoints", endpoint]).await
    }

    /// `PATCH …/webhook-endpoints/{endpoint}` with the caller's `{url?, events?, modes?, status?}`
    pub async fn update(
        &self,
        business: BusinessId,
        endpoint: &str,
        body: &Value,
    ) -> Result<EndpointView, CallError> {
        let path = ["businesses", &business.to_string(), "webhook-endpoints", endpoint];
        self.0.send(Method::PATCH, &path, body).await
    }

    /// `POST …/webhook-endpoints/{endpoint}/parked/{replay|discard}`
    pub async fn decide_parked(
        &self,
        business: BusinessId,
        endpoint: &str,
        decision: &str,
    ) -> Result<EndpointView, CallError> {
        let path = ["businesses", &business.to_string(), "webhook-endpoints", endpoint, "parked", decision];
        self.0.send(Method::POST, &path, &Value::Null).await
    }

    /// `DELETE …/webhook-endpoints/{endpoint}`
    pub async fn delete(&self, business: BusinessId, endpoint: &str) -> Result<(), CallError> {
        let path = ["businesses", &business.to_string(), "webhook-endpoints", endpoint];
        self.0.send(Method::DELETE, &path, &Value::Null).await
    }

    /// `POST …/webhook-endpoints/{endpoint}/test`
    pub async fn test(&self, business: BusinessId, endpoint: &str) -> Result<TestResult, CallError> {
        let path = ["businesses", &business.to_string(), "webhook-endpoints", endpoint, "test"];
        self.0.send(Method::POST, &path, &Value::Null).await
    }

    /// `POST …/webhook-endpoints/{endpoint}/secret/rotate` with the caller's `{graceSeconds?, replaceStaged?}`, or nothing
    pub async fn rotate_secret(
        &self,
        business: BusinessId,
        endpoint: &str,
        body: &Value,
    ) -> Result<CreatedEndpoint, CallError> {
        let path = ["businesses", &business.to_string(), "webhook-endpoints", endpoint, "secret", "rotate"];
        self.0.send(Method::POST, &path, body).await
    }

    /// `POST …/webhook-endpoints/{endpoint}/secret/activate`
    pub async fn activate_secret(
        &self,
        business: BusinessId,
        endpoint: &str,
    ) -> Result<EndpointView, CallError> {
        let path = ["businesses", &business.to_string(), "webhook-endpoints", endpoint, "secret", "activate"];
        self.0.send(Method::POST, &path, &Value::Null).await
    }

    /// `GET …/webhook-endpoints/{endpoint}/deliveries`, newest first
    pub async fn deliveries(
        &self,
        business: BusinessId,
        endpoint: &str,
        query: &DeliveriesQuery,
    ) -> Result<Page<DeliveryView>, CallError> {
        let path = ["businesses", &business.to_string(), "webhook-endpoints", endpoint, "deliveries"];
        self.0.get_with(&path, query).await
    }

    /// `GET /internal/businesses/{id}/webhook-deliveries/{delivery}`
    pub async fn delivery(&self, business: BusinessId, delivery: &str) -> Result<DeliveryDetails, CallError> {
        self.0.get(&["businesses", &business.to_string(), "webhook-deliveries", delivery]).await
    }

    /// `POST /internal/businesses/{id}/webhook-deliveries/{delivery}/redeliver`
    pub async fn redeliver(&self, business: BusinessId, delivery: &str) -> Result<DeliveryView, CallError> {
        let path = ["businesses", &business.to_string(), "webhook-deliveries", delivery, "redeliver"];
        self.0.send(Method::POST, &path, &Value::Null).await
    }

    /// `GET /internal/businesses/{id}/orders/{order}/webhook-deliveries`, oldest first
    pub async fn of_order(
        &self,
        business: BusinessId,
        order: OrderId,
        query: &OrderDeliveriesQuery,
    ) -> Result<Page<OrderDeliveryView>, CallError> {
        let path = ["businesses", &business.to_string(), "orders", &order.to_string(), "webhook-deliveries"];
        self.0.get_with(&path, query).await
    }

    /// `GET /internal/businesses/{id}/orders/{order}/webhook-deliveries/{delivery}`
    pub async fn one_of_order(
        &self,
        business: BusinessId,
        order: OrderId,
        delivery: WebhookDeliveryId,
    ) -> Result<OrderDeliveryView, CallError> {
        let (business, order, delivery) = (business.to_string(), order.to_string(), delivery.to_string());
        self.0.get(&["businesses", &business, "orders", &order, "webhook-deliveries", &delivery]).await
    }

    /// `GET /internal/businesses/{id}/webhooks/summary`
    pub async fn summary(&self, business: BusinessId) -> Result<WebhookSummary, CallError> {
        self.0.get(&["businesses", &business.to_string(), "webhooks", "summary"]).await
    }
}

fn endpoints(business: &str) -> [&str; 3] {
    ["businesses", business, "webhook-endpoints"]
}
