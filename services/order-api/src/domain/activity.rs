//! How busy a business is.

use chrono::{DateTime, Utc};

/// The orders of a business in one mode.
#[derive(Clone, Copy, Debug)]
pub struct Activity {
    pub last_at: Option<DateTime<Utc>>,
    /// Placed recently.
    pub recent: i64,
    /// Waiting for their payment.
    pub pending: i64,
}
