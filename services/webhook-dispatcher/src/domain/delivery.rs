//! One event for one endpoint, and the tries to bring it there.

use chrono::{DateTime, Utc};
use domain::{EndpointId, EventId, EventKind, Mode, WebhookDeliveryId};
use internal_api::webhooks::DeliveryState;

/// A delivery as its owner sees it in the log.
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
    /// None while it is being sent, waits behind an earlier one, or is over.
    pub next_attempt_at: Option<DateTime<Utc>>,
    /// Of the latest attempt. None when no answer came.
    pub last_response_status: Option<i32>,
    pub last_error: Option<String>,
    pub created_at: DateTime<Utc>,
    pub completed_at: Option<DateTime<Utc>>,
    /// Since then later events of its order no longer wait for it.
    pub stepped_aside_at: Option<DateTime<Utc>>,
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
    /// None when no answer came.
    pub response_status: Option<i32>,
}

/// One HTTP try.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attempt {
    /// Where it went. Unknown of those that were made before this was kept.
    pub url: Option<String>,
    pub started_at: DateTime<Utc>,
    pub duration_ms: i64,
    /// None when no answer came.
    pub response_status: Option<u16>,
    /// Why it failed, in words; none when it succeeded.
    pub error: Option<String>,
    /// JSON objects of texts, without anything secret.
    pub request_headers: String,
    pub response_headers: String,
    /// The beginning of it, as text.
    pub response_body: Option<String>,
}

/// An empty JSON object.
pub(crate) const NO_HEADERS: &str = "{}";

impl Attempt {
    pub(crate) fn succeeded(&self) -> bool {
        self.error.is_none()
    }

    pub(crate) fn has_answer(&self) -> bool {
        self.response_status.is_some()
    }

    pub(crate) fn without_answer(self) -> Self {
        Self { response_headers: NO_HEADERS.to_owned(), response_body: None, ..self }
    }
}
