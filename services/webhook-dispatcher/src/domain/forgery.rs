//! The test of an endpoint that is not to be passed: a webhook with a wrong signature, which a receiver must refuse
//! (`spec.md` §5.5).

use chrono::{DateTime, Utc};
use domain::EventId;

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forgery {
    /// The signed event before it, which the receiver took.
    pub test_event: EventId,
    pub forged_event: EventId,
    /// None when that could not be told.
    pub refused: Option<bool>,
    pub at: DateTime<Utc>,
}

/// Whether an answer to a wrong signature is a refusal. A receiver that is busy, fails or does not answer has not said.
pub(crate) fn is_refusal(status: Option<u16>) -> Option<bool> {
    match status {
        Some(408 | 429) => None,
        Some(400..=499) => Some(true),
        Some(200..=299) => Some(false),
        _ => None,
    }
}

/// What the owner is told when the receiver did not refuse it.
pub(crate) fn problem(refused: Option<bool>, status: Option<u16>) -> Option<String> {
    match (refused, status) {
        (Some(true), _) => None,
        (Some(false), _) => Some(
            "Your receiver took a webhook with a wrong signature. Verify the signature over the raw body, and answer 401 when it does not match."
                .to_owned(),
        ),
        (None, Some(status)) => Some(format!(
            "Whether your receiver refuses a wrong signature could not be told: it answered {status} where 401 is expected."
        )),
        (None, None) => Some(
            "Whether your receiver refuses a wrong signature could not be told: no answer came in time.".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_of_its_own_mind_counts() {
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
