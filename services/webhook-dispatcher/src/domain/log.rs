//! Queries of an endpoint's delivery log.

use chrono::{DateTime, Utc};
use domain::{EndpointId, EventKind, Mode, WebhookDeliveryId};

use super::{Delivery, DeliveryState, StatusFilter};

/// Selects a part of an endpoint's log.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryFilter {
    pub endpoint: EndpointId,
    pub state: Option<DeliveryState>,
    pub kind: Option<EventKind>,
    pub mode: Option<Mode>,
    /// Of the latest attempt.
    pub response_status: Option<StatusFilter>,
    pub order_reference: Option<String>,
    /// Creation times, from `since` up to but excluding `until`.
    pub since: Option<DateTime<Utc>>,
    pub until: Option<DateTime<Utc>>,
    pub after: Option<WebhookDeliveryId>,
    pub limit: usize,
}

/// A page of the log.
pub(crate) struct LogPage {
    pub deliveries: Vec<Delivery>,
    /// Where the next page begins, if there may be one.
    pub continue_after: Option<WebhookDeliveryId>,
}
