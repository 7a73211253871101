//! How busy a business is, and which retries it has tested.

use chrono::{DateTime, Utc};
use domain::{BusinessId, DeliveryStatus, RequestId};

/// The orders of a business in one mode.
#[derive(Clone, Copy, Debug)]
pub struct Activity {
    pub last_at: Option<DateTime<Utc>>,
    /// Placed recently.
    pub recent: i64,
    /// Waiting for their payment.
    pub pending: i64,
}

/// The live orders of a business.
#[derive(Clone, Debug)]
pub struct LiveOrders {
    pub last_at: Option<DateTime<Utc>>,
    pub by_status: Vec<RecentOrders>,
}

/// The recent orders with one status.
#[derive(Clone, Copy, Debug)]
pub struct RecentOrders {
    pub status: DeliveryStatus,
    pub today: i64,
    /// Since the start of the period, which contains today.
    pub in_period: i64,
}

/// The number of live orders that keep a business from being closed, each kind up to the counted maximum.
#[derive(Clone, Copy, Debug)]
pub struct OpenOrders {
    pub on_their_way: i64,
    /// The fleet has the parcel, whatever the business has decided.
    pub failed: i64,
    /// Delivered, and the cash is not settled.
    pub cash: i64,
}

/// The live orders of one of several businesses.
#[derive(Clone, Copy, Debug)]
pub struct BusinessActivity {
    pub business: BusinessId,
    pub recent: i64,
    pub last_at: Option<DateTime<Utc>>,
}

/// Which live orders are counted.
#[derive(Clone, Copy, Debug)]
pub struct LiveOrdersQuery {
    pub today_since: DateTime<Utc>,
    pub period_since: DateTime<Utc>,
    pub max: i64,
}

/// The retries that a business should test before it goes live (SPECIFICATION §3.2). A retry with a Test key is the proof.
#[derive(Clone, Debug, Default)]
pub struct TestedRetries {
    /// A replay of a successful request.
    pub duplicate: Option<RetryProof>,
    /// A failed request that succeeded later with the same Idempotency-Key.
    pub failure: Option<RetryProof>,
}

#[derive(Clone, Debug)]
pub struct RetryProof {
    pub at: DateTime<Utc>,
    /// The first request, unless an earlier release placed its order, and the retry.
    pub request_ids: Vec<RequestId>,
}
