//! Errors of internal calls.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use web::ApiError;

/// An internal call without a usable response.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    /// A timeout, a broken connection, or a 5xx. It is unknown what the other service did.
    #[error("{service} is unavailable: {reason}")]
    Unavailable { service: &'static str, reason: String },
    /// The other service refused. The refusal is for the original caller.
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
    /// Forwards a refusal unchanged. An unavailable service becomes 503.
    fn from(error: CallError) -> Self {
        match error {
            CallError::Unavailable { service, reason } => {
                tracing::warn!(service, reason, "peer unavailable");
                Self::unavailable()
            }
            CallError::Refused { refusal, .. } => {
                let Refusal { status, code, message, rest } = *refusal;
                Self::passed_on(status, code, message, rest)
            }
        }
    }
}

/// A 4xx with the error body of SPECIFICATION §2.3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    #[serde(skip)]
    pub status: u16,
    pub code: String,
    pub message: String,
    /// `errors[]` and the other fields of this error code.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
