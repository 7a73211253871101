//! A delivery: one event for one endpoint, with its attempts.

use chrono::{DateTime, Utc};
use domain::{EndpointId, EventId, EventKind, Mode, WebhookDeliveryId};
use strum::{Display, EnumString, IntoStaticStr};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum DeliveryState {
    Pending,
    Succeeded,
    /// All attempts are used up.
    Failed,
    /// Never sent: the endpoint was deleted, no longer subscribes to the event, or its owner discarded the delivery.
    Discarded,
    /// Kept while the endpoint is disabled, until its owner replays or discards it.
    Parked,
}

/// A delivery as the endpoint's log shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub id: WebhookDeliveryId,
    pub endpoint_id: EndpointId,
    pub event_id: EventId,
    pub kind: EventKind,
    pub mode: Mode,
    pub order_reference: Option<String>,
    pub state: DeliveryState,
    pub attempts: i32,
    /// None while it is in flight, waits for an earlier delivery of its order, or is completed.
    pub next_attempt_at: Option<DateTime<Utc>>,
    /// Of the latest attempt; none if no response arrived.
    pub last_response_status: Option<i32>,
    pub last_error: Option<String>,
    pub created_at: DateTime<Utc>,
    pub completed_at: Option<DateTime<Utc>>,
    /// When it was skipped: from then on, later events of its order no longer wait for it.
    pub skipped_at: Option<DateTime<Utc>>,
}

/// A delivery as the timeline of its order shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OrderDelivery {
    pub id: WebhookDeliveryId,
    pub event_id: EventId,
    pub kind: EventKind,
    pub endpoint_id: EndpointId,
    pub state: DeliveryState,
    pub attempts: i32,
    pub latest_attempt: Option<LatestAttempt>,
    pub next_attempt_at: Option<DateTime<Utc>>,
    pub last_error: Option<String>,
    pub created_at: DateTime<Utc>,
    pub completed_at: Option<DateTime<Utc>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LatestAttempt {
    pub at: DateTime<Utc>,
    /// None if no response arrived.
    pub response_status: Option<i32>,
}

/// A position in an order's timeline: a time, and an id that separates entries of the same moment.
#[derive(Clone, Debug)]
pub(crate) struct TimelineCursor {
    pub at: DateTime<Utc>,
    /// Compared as text: other entries of the timeline have other kinds of ids.
    pub id: String,
}

/// One HTTP request to the endpoint, and its result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attempt {
    /// Unknown for attempts made before this was stored.
    pub url: Option<String>,
    pub started_at: DateTime<Utc>,
    pub duration_ms: i64,
    /// None if no response arrived.
    pub response_status: Option<u16>,
    /// Why it failed; none if it succeeded.
    pub error: Option<String>,
    /// A JSON object of texts, without secrets. So are the response's.
    pub request_headers: String,
    pub response_headers: String,
    /// The beginning of the body, as text.
    pub response_body: Option<String>,
}

/// An empty JSON object.
pub(crate) const NO_HEADERS: &str = "{}";

impl Attempt {
    pub(crate) fn succeeded(&self) -> bool {
        self.error.is_none()
    }

    pub(crate) fn has_response(&self) -> bool {
        self.response_status.is_some()
    }

    pub(crate) fn without_response(self) -> Self {
        Self { response_headers: NO_HEADERS.to_owned(), response_body: None, ..self }
    }
}
