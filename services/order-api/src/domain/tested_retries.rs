//! The retries that a business should test before it goes live (SPECIFICATION §3.2). A retry with a Test key is the proof.

use chrono::{DateTime, Utc};
use domain::RequestId;

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
