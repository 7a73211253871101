//! What sets up and proves second factors. Each function works within the caller's transaction, in which the caller also writes its log.

use domain::{Clock, Entropy};
use postgres::StoreError;

use super::factor_secrets::FactorSecrets;
use crate::passkeys::{PasskeyError, Passkeys};
use crate::secrets::VaultError;

/// The second factors of all accounts.
pub struct Factors {
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) secrets: FactorSecrets,
    pub passkeys: Passkeys,
}

#[derive(Debug, thiserror::Error)]
pub enum FactorError {
    #[error("the code is wrong, or was used before")]
    WrongCode,
    #[error("the passkey is not one of the account, or its signature is refused")]
    WrongPasskey,
    #[error("the challenge for the passkey has expired, or was used")]
    CeremonyEnded,
    #[error("too many wrong codes")]
    TooMany { wait: chrono::TimeDelta },
    #[error("the account has no second factor")]
    NotEnrolled,
    #[error("the account has a second factor already")]
    AlreadyEnrolled,
    #[error("no enrolment is open")]
    NotStarted,
    #[error("passkeys are unavailable")]
    PasskeysUnavailable,
    #[error("the account has no such passkey, or none at all")]
    UnknownPasskey,
    #[error("an account has this passkey already")]
    PasskeyExists,
    #[error("the account has as many passkeys as it may have")]
    TooManyPasskeys,
    #[error("the passkeys of the account cannot be asked for: {0}")]
    Passkeys(String),
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FactorError {
    /// As written to logs, if the person has failed to prove the second factor.
    pub fn failure(&self) -> Option<&'static str> {
        match self {
            Self::WrongCode => Some("wrong_code"),
            Self::WrongPasskey => Some("wrong_passkey"),
            _ => None,
        }
    }
}

impl From<PasskeyError> for FactorError {
    fn from(error: PasskeyError) -> Self {
        match error {
            PasskeyError::Unavailable => Self::PasskeysUnavailable,
            PasskeyError::Refused(_) => Self::WrongPasskey,
            PasskeyError::Library(error) => Self::Passkeys(error.to_string()),
            PasskeyError::Store(error) => Self::Store(error),
        }
    }
}

impl Factors {
    pub fn new(clock: Clock, entropy: Entropy, secrets: FactorSecrets, passkeys: Passkeys) -> Self {
        Self { clock, entropy, secrets, passkeys }
    }

    /// Whether people can enrol.
    pub fn are_available(&self) -> bool {
        self.secrets.is_available()
    }
}
