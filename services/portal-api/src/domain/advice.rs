//! What a business is advised to try before it goes live (SPECIFICATION §3.2), and what proves that it did. It locks nothing.

use chrono::{DateTime, Utc};
use internal_api::orders::{RetryEvidence, RetryProof};
use internal_api::webhooks::WebhookVerified;

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    pub(crate) proof: Option<Proof>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proof {
    pub(crate) at: DateTime<Utc>,
    /// Of requests to the integration API; of a webhook's tests the events.
    pub(crate) ids: Vec<String>,
}

/// In the order in which a page shows them.
pub(crate) fn advice(retries: RetryEvidence, verified: Option<WebhookVerified>) -> [Advice; 3] {
    [
        Advice {
            code: "duplicate_retry_tested",
            label: "A duplicate request was sent, and answered with the first one's order",
            proof: retries.duplicate.map(Proof::from),
        },
        Advice {
            code: "failure_retry_tested",
            label: "A failed request was retried with the same Idempotency-Key, and succeeded",
            proof: retries.failure.map(Proof::from),
        },
        Advice {
            code: "webhook_verified",
            label: "A webhook endpoint took a signed test and refused one with a wrong signature",
            proof: verified.map(|verified| Proof {
                at: verified.at,
                ids: vec![verified.test_event_id.to_string(), verified.forged_event_id.to_string()],
            }),
        },
    ]
}

impl From<RetryProof> for Proof {
    fn from(proof: RetryProof) -> Self {
        Self { at: proof.at, ids: proof.request_ids.iter().map(ToString::to_string).collect() }
    }
}
