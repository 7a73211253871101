//! The retries that a business should test before it goes live (SPECIFICATION §3.2): of a request that succeeded, and
//! of one that failed. A retry with a Test key is the proof.

use chrono::{DateTime, Utc};
use domain::{BusinessId, OrderId, RequestId};
use sha2::{Digest, Sha256};
use strum::{Display, EnumString, IntoStaticStr};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum RetryKind {
    /// A replay of a successful request.
    Duplicate,
    /// A failed request that succeeded later with the same Idempotency-Key.
    Failure,
}

/// A retry of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryProof {
    pub kind: RetryKind,
    pub first: Option<RequestId>,
    pub retry: RequestId,
    pub at: DateTime<Utc>,
}

/// The digest of the Idempotency-Key of a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    pub fn of(idempotency_key: &str) -> Self {
        Self(Sha256::digest(idempotency_key.as_bytes()).into())
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A request with a Test key that failed.
#[derive(Clone, Copy, Debug)]
pub struct FailedRequest {
    pub business_id: BusinessId,
    pub key: KeyHash,
    pub request_id: RequestId,
    pub at: DateTime<Utc>,
}

/// A replay with a Test key.
#[derive(Clone, Copy, Debug)]
pub struct Replay {
    pub business_id: BusinessId,
    pub order_id: OrderId,
    pub request_id: RequestId,
    pub at: DateTime<Utc>,
}

/// A successful request.
#[derive(Clone, Copy, Debug)]
pub struct PlacedRequest {
    pub key: KeyHash,
    pub request_id: RequestId,
    pub at: DateTime<Utc>,
}

/// The earliest success after a failure with the same key.
pub fn first_retry_after_failure(failed: &[FailedRequest], placed: &[PlacedRequest]) -> Option<RetryProof> {
    let proofs = failed.iter().flat_map(|failure| {
        let later = placed.iter().filter(|placed| placed.key == failure.key && placed.at >= failure.at);
        later.map(|placed| RetryProof {
            kind: RetryKind::Failure,
            first: Some(failure.request_id),
            retry: placed.request_id,
            at: placed.at,
        })
    });
    proofs.min_by_key(|proof| proof.at)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn only_a_later_success_with_the_same_key_is_a_retry() {
        let at = |minutes| DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        let failed = |key, minutes| FailedRequest {
            business_id: BusinessId::first_of(at(0)),
            key: KeyHash::of(key),
            request_id: RequestId::first_of(at(minutes)),
            at: at(minutes),
        };
        let placed = |key, minutes| PlacedRequest {
            key: KeyHash::of(key),
            request_id: RequestId::first_of(at(minutes)),
            at: at(minutes),
        };
        assert_eq!(first_retry_after_failure(&[], &[placed("a", 1)]), None);
        assert_eq!(first_retry_after_failure(&[failed("a", 1)], &[placed("b", 2)]), None, "another key");
        assert_eq!(
            first_retry_after_failure(&[failed("a", 2)], &[placed("a", 1)]),
            None,
            "the failure is later"
        );
        let proof = first_retry_after_failure(
            &[failed("b", 1), failed("a", 2)],
            &[placed("b", 9), placed("a", 5), placed("a", 7)],
        );
        let expected = RetryProof {
            kind: RetryKind::Failure,
            first: Some(RequestId::first_of(at(2))),
            retry: RequestId::first_of(at(5)),
            at: at(5),
        };
        assert_eq!(proof, Some(expected));
    }
}
