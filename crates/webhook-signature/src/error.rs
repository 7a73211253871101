//! Why a webhook cannot be trusted.

/// Why a webhook was refused. Answer 401 in every case; the reason is for the receiver's own log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The timestamp header is not a whole number of Unix seconds.
    #[error("the timestamp is not a number of Unix seconds")]
    MalformedTimestamp,
    /// Signed longer ago than the tolerance: perhaps a replay of a recorded webhook.
    #[error("the webhook was signed too long ago")]
    TooOld,
    /// Signed further in the future than the tolerance: one of the two clocks is wrong.
    #[error("the webhook was signed in the future")]
    TooNew,
    /// The signature header has another length than a signature has.
    #[error("the signature has the wrong length")]
    WrongLength,
    /// Another body, another timestamp or another secret was signed.
    #[error("the signature does not match")]
    Mismatch,
    /// The receiver's own secret is unusable, so that nothing can be verified.
    #[error(transparent)]
    MalformedSecret(#[from] MalformedSecret),
}

/// The text is not `whsec_` and base64 of 24 to 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the signing secret is not `whsec_` and base64 of 24 to 64 bytes")]
pub struct MalformedSecret;
