//! How an internal call can end other than well.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use web::ApiError;

/// An internal call that brought no answer to use.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    /// No answer in time, a broken connection, or a 5xx. What the other service did is unknown.
    #[error("{service} cannot be reached: {reason}")]
    Unavailable { service: &'static str, reason: String },
    /// The other service answered no; the answer is meant for whoever caused the call.
    #[error("{service} refused: {} ({})", refusal.message, refusal.code)]
    Refused { service: &'static str, refusal: Box<Refusal> },
}

impl CallError {
    /// The refusal's code, such as `api_key_not_found`.
    pub fn refusal_code(&self) -> Option<&str> {
        match self {
            Self::Refused { refusal, .. } => Some(&refusal.code),
            Self::Unavailable { .. } => None,
        }
    }
}

impl From<CallError> for ApiError {
    /// Passes on a peer's refusal unchanged. A peer that is unreachable becomes 503.
    fn from(error: CallError) -> Self {
        match error {
            CallError::Unavailable { service, reason } => {
                tracing::warn!(service, reason, "a peer did not answer");
                Self::unavailable()
            }
            CallError::Refused { refusal, .. } => {
                let Refusal { status, code, message, rest } = *refusal;
                Self::passed_on(status, code, message, rest)
            }
        }
    }
}

/// A 4xx with the error body of `design.md` §5.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    #[serde(skip)]
    pub status: u16,
    pub code: String,
    pub message: String,
    /// `errors[]` and what else the case carries.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
