//! The forgery test: a webhook with a wrong signature, which the receiver must refuse (SPECIFICATION §5.5).

use chrono::{DateTime, Utc};
use domain::EventId;

/// The result of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ForgeryTest {
    /// The correctly signed event before it, which the receiver accepted.
    pub test_event: EventId,
    pub forged_event: EventId,
    /// None if the response is not conclusive.
    pub refused: Option<bool>,
    pub at: DateTime<Utc>,
}

/// Whether the response is a refusal. A receiver that is busy, fails or does not respond is inconclusive.
pub(crate) fn is_refusal(status: Option<u16>) -> Option<bool> {
    match status {
        Some(408 | 429) => None,
        Some(400..=499) => Some(true),
        Some(200..=299) => Some(false),
        _ => None,
    }
}

/// The message to the owner if the receiver did not refuse.
pub(crate) fn problem(refused: Option<bool>, status: Option<u16>) -> Option<String> {
    match (refused, status) {
        (Some(true), _) => None,
        (Some(false), _) => Some(
            "Your receiver accepted a webhook with a wrong signature. Verify the signature over the raw body, and answer 401 when it does not match."
                .to_owned(),
        ),
        (None, Some(status)) => Some(format!(
            "It is not known whether your receiver refuses a wrong signature: it returned {status} instead of 401."
        )),
        (None, None) => Some(
            "It is not known whether your receiver refuses a wrong signature: it did not answer in time.".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_deliberate_responses_count() {
        for (status, refused) in [
            (Some(401), Some(true)),
            (Some(400), Some(true)),
            (Some(403), Some(true)),
            (Some(200), Some(false)),
            (Some(204), Some(false)),
            (Some(429), None),
            (Some(408), None),
            (Some(302), None),
            (Some(500), None),
            (None, None),
        ] {
            assert_eq!(is_refusal(status), refused, "{status:?}");
            assert_eq!(problem(refused, status).is_none(), refused == Some(true), "{status:?}");
        }
    }
}
