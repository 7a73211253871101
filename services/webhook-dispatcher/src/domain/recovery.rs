//! A recovery: a job that sends again all webhooks that an endpoint missed in a period.

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, RecoveryId};
use strum::{Display, EnumString, IntoStaticStr};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum RecoveryState {
    Running,
    /// Every missed webhook is with the senders.
    Completed,
    Cancelled,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recovery {
    pub id: RecoveryId,
    pub business_id: BusinessId,
    pub endpoint_id: EndpointId,
    /// Creation times of the deliveries, from `since` up to but excluding `until`.
    pub since: DateTime<Utc>,
    pub until: DateTime<Utc>,
    pub state: RecoveryState,
    /// Deliveries to send again, as far as they are counted.
    pub total: i64,
    /// Deliveries that are with the senders.
    pub done: i64,
    pub created_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
}
