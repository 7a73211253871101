//! What the operator refused a business.

use chrono::{DateTime, Utc};

/// Of its approval, or of live access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: String,
    pub(crate) refused_at: DateTime<Utc>,
    /// Then the business waits for the operator again. The request of a plan asks too.
    pub(crate) asked_again_at: Option<DateTime<Utc>>,
    /// What an owner wrote when asking again.
    pub(crate) note: Option<String>,
}
