//! Checks second factors: limits, and single use of codes.

use chrono::TimeDelta;
use diesel_async::AsyncPgConnection;
use domain::Email;
use identity::attempts::{self, Admission, Attempt, Subject};
use identity::passkeys::PasskeyError;
use identity::second_factors::{self, FactorCode};
use identity::{Account, VaultError};
use postgres::StoreError;

use crate::commands::account_mail::mail_account;
use crate::commands::attempt_limits::{self, Caller};
use crate::commands::use_passkey::{self, CheckedAnswer};
use crate::mail::{FactorNews, Mail};
use crate::state::State;

/// The owner of a second factor.
#[derive(Clone)]
pub(crate) struct Holder {
    pub(crate) account: Account,
    pub(crate) email: String,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum FactorError {
    #[error("the code is wrong, or was used before")]
    WrongCode,
    #[error("the passkey is not one of the account, or its signature is refused")]
    WrongPasskey,
    #[error("the challenge for the passkey has expired, or was used")]
    CeremonyEnded,
    #[error("too many wrong codes")]
    TooMany { wait: TimeDelta },
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
    /// As written to the audit log, if the person has failed to prove the second factor.
    pub(super) fn failure(&self) -> Option<&'static str> {
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

/// How the second factor was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    App,
    RecoveryCode,
    Passkey,
}

impl Proof {
    /// As written to the audit log.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::RecoveryCode => "recovery_code",
            Self::Passkey => "passkey",
        }
    }
}

/// A counted try.
pub(super) struct CountedTry {
    pub(super) subjects: Vec<Subject>,
    pub(super) attempts: Vec<Attempt>,
}

/// The limits that wrong codes of the account count against.
pub(super) async fn subjects(
    state: &State,
    holder: &Holder,
    caller: &Caller,
) -> Result<Vec<Subject>, StoreError> {
    let invalid = || StoreError::Corrupt("the e-mail address of an account is invalid".to_owned());
    let email = Email::parse(&holder.email).ok_or_else(invalid)?;
    let of = (holder.account.realm(), &email);
    attempt_limits::subjects(state, &attempts::SECOND_FACTOR, of, caller).await
}

/// Counts a try before its code is checked.
pub(super) async fn count(
    state: &State,
    holder: &Holder,
    caller: &Caller,
) -> Result<CountedTry, FactorError> {
    let subjects = subjects(state, holder, caller).await?;
    match attempt_limits::admit(state, &subjects).await? {
        Admission::RetryAfter(wait) => Err(FactorError::TooMany { wait }),
        Admission::Granted(attempts) => Ok(CountedTry { subjects, attempts }),
    }
}

/// Accepts an answer of the account once, within the caller's transaction.
pub(super) async fn accept(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: Account,
    answer: &CheckedAnswer<'_>,
) -> Result<Proof, FactorError> {
    match answer {
        CheckedAnswer::Code(code) => accept_code(conn, state, account, code).await,
        CheckedAnswer::Passkey(used) => {
            use_passkey::accept(conn, state, account, used).await?;
            Ok(Proof::Passkey)
        }
    }
}

/// Accepts a code of the account once, within the caller's transaction.
async fn accept_code(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: Account,
    code: &FactorCode,
) -> Result<Proof, FactorError> {
    let factor = second_factors::find(conn, account).await?.filter(|factor| factor.is_confirmed);
    let factor = factor.ok_or(FactorError::WrongCode)?;
    let code = match code {
        FactorCode::App(code) => code,
        FactorCode::Recovery(code) => {
            let is_right = second_factors::consume_recovery_code(conn, account, code).await?;
            return is_right.then_some(Proof::RecoveryCode).ok_or(FactorError::WrongCode);
        }
    };
    let secret = state.factor_secrets.open(&account.id(), &factor.sealed_secret)?;
    let step = secret.step_of(code, state.unit.clock.now()).ok_or(FactorError::WrongCode)?;
    // With the present key, also if the previous one encrypted it.
    let sealed = state.factor_secrets.seal(&account.id(), &secret, &state.unit.entropy)?;
    let is_fresh = second_factors::accept_step(conn, account, step, &sealed).await?;
    is_fresh.then_some(Proof::App).ok_or(FactorError::WrongCode)
}

/// Mails a user or a person of the staff about their second factor.
pub(super) async fn mail_holder(
    conn: &mut AsyncPgConnection,
    state: &State,
    holder: &Holder,
    news: FactorNews,
) -> Result<(), StoreError> {
    let at = state.unit.clock.now();
    let mail = match holder.account {
        Account::User(_) => Mail::SecondFactor { news, at },
        Account::Staff(_) => Mail::StaffSecondFactor { news, at },
    };
    mail_account(conn, state, (holder.account, &holder.email), &mail).await
}
