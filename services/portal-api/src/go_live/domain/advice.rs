//! Recommended tests before going live (SPECIFICATION §3.2), and the evidence that they were done. Advice locks nothing.

use chrono::{DateTime, Utc};

/// One recommended test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    pub(crate) proof: Option<Proof>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proof {
    pub(crate) at: DateTime<Utc>,
    /// Ids of the integration API's requests, or of the webhook events that were sent.
    pub(crate) ids: Vec<String>,
}

/// The proof of each test, where there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) duplicate_retry: Option<Proof>,
    pub(crate) failure_retry: Option<Proof>,
    pub(crate) webhook_verified: Option<Proof>,
}

/// In the order in which the page lists them.
pub(crate) fn advice(evidence: Evidence) -> [Advice; 3] {
    [
        Advice {
            code: "duplicate_retry_tested",
            label: "A duplicate request was sent, and answered with the first one's order",
            proof: evidence.duplicate_retry,
        },
        Advice {
            code: "failure_retry_tested",
            label: "A failed request was retried with the same Idempotency-Key, and succeeded",
            proof: evidence.failure_retry,
        },
        Advice {
            code: "webhook_verified",
            label: "A webhook endpoint took a signed test and refused one with a wrong signature",
            proof: evidence.webhook_verified,
        },
    ]
}
