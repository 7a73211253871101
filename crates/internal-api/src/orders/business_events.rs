//! The events of all orders of a business, for the portal.

use chrono::{DateTime, Utc};
use domain::{BusinessId, EventId, EventKind, Mode, OrderId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{OrdersClient, WebhookOutcomeView};
use crate::CallError;

/// Which events are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BusinessEventsQuery {
    pub mode: Option<Mode>,
    pub limit: Option<usize>,
    pub starting_after: Option<String>,
    pub event: Option<String>,
    /// An exact id, tracking code or reference of an order.
    pub search: Option<String>,
}

/// An event of an order and its webhooks, without personal data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BusinessEventView {
    /// Its webhooks carry the same id.
    pub id: EventId,
    pub event: EventKind,
    /// Rises with each event of the order.
    pub sequence: i64,
    pub mode: Mode,
    pub order_id: OrderId,
    pub order_reference: String,
    /// When it happened, by the fleet's clock, which can be wrong.
    pub occurred_at: DateTime<Utc>,
    /// When Waybill recorded it.
    pub recorded_at: DateTime<Utc>,
    /// Its webhooks, oldest first. None if no endpoint subscribed to it, or if they are older than 30 days.
    pub deliveries: Vec<WebhookOutcomeView>,
}

/// A page of events, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BusinessEventsPage {
    pub data: Vec<BusinessEventView>,
    /// Whether more events may follow. A page searches only a bounded number of events, so a filtered page can be short.
    pub has_more: bool,
    /// The `startingAfter` of the next page.
    pub continue_after: Option<EventId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(schema_with = super::sources)]
    pub incomplete: Vec<String>,
}

impl OrdersClient {
    /// `GET /internal/businesses/{id}/events`
    pub async fn business_events(
        &self,
        business: BusinessId,
        query: &BusinessEventsQuery,
    ) -> Result<BusinessEventsPage, CallError> {
        self.0.get_with(&["businesses", &business.to_string(), "events"], query).await
    }
}
