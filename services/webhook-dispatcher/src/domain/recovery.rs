//! Sending again, as one job, what an endpoint missed in some time.

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, RecoveryId};
use internal_api::webhooks::RecoveryState;

/// A job, as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recovery {
    pub id: RecoveryId,
    pub business_id: BusinessId,
    pub endpoint_id: EndpointId,
    /// Of the deliveries' times; the end is not included.
    pub since: DateTime<Utc>,
    pub until: DateTime<Utc>,
    pub state: RecoveryState,
    /// How many deliveries are to be sent again, as far as they were found and counted.
    pub total: i64,
    /// How many of them have been handed to the senders.
    pub done: i64,
    pub created_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
}
