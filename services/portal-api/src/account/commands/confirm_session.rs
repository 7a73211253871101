//! A logged-in person authenticates again, before a sensitive call. The session gets a new token, so that a copy of the former
//! one is worth nothing.

use diesel_async::AsyncPgConnection;
use domain::Email;
use identity::accounts::{self, Credentials};
use identity::attempts::{self, Admission, Attempt, Subject};
use identity::passkeys::CeremonyPurpose;
use identity::passwords::{Password, PasswordError, Requester};
use identity::second_factors::{self, CheckedAnswer, FactorAnswer, FactorError, Proof};
use identity::{SessionToken, sessions};
use postgres::StoreError;

use crate::account::commands::attempt_limits::{self, Caller};
use crate::account::commands::factor_code::{self, Holder, mail_holder};
use crate::account::commands::failed_proofs::{self, FailedProof};
use crate::account::commands::own_account::OwnAccount;
use crate::account::commands::use_passkey;
use crate::audit::commands::audit::write_entry;
use crate::audit::commands::audit_line::{Refusal, log_refusal};
use crate::audit::domain::{Action, AuditEvent};
use crate::mail::FactorNews;
use crate::state::State;

/// What the person proves.
pub(crate) enum Evidence {
    Password {
        password: Password,
        /// Required if the account has a second factor.
        code: Option<FactorAnswer>,
    },
    /// A passkey is two factors: the authenticator, and what unlocks it.
    Passkey(FactorAnswer),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfirmError {
    #[error("the password is wrong")]
    WrongPassword,
    #[error("the account has a second factor, whose code is missing")]
    CodeRequired,
    #[error("the account no longer exists")]
    UnknownAccount,
    #[error("the session has ended, or another call has just confirmed it")]
    SessionEnded,
    #[error(transparent)]
    Factor(#[from] FactorError),
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the new token of the session. Wrong passwords and codes count as in log-ins: an unattended page must not allow more guesses
/// than a log-in.
pub(crate) async fn confirm(
    state: &State,
    own: &OwnAccount,
    evidence: &Evidence,
) -> Result<SessionToken, ConfirmError> {
    let (holder, account) = (&own.holder, own.holder.account);
    let database = &state.unit.database;
    let enrolled = database.read(async |conn| second_factors::is_enrolled(conn, account).await).await;
    let enrolled: bool = enrolled?;
    if enrolled && matches!(evidence, Evidence::Password { code: None, .. }) {
        return Err(ConfirmError::CodeRequired);
    }
    let subjects = subjects(state, holder, &own.caller, enrolled).await?;
    let counted = match attempt_limits::admit(state, &subjects).await? {
        Admission::RetryAfter(wait) => {
            let (address, request) = (own.caller.address.as_ref(), own.author().request);
            log_refusal(Refusal::TooMany, account.realm(), address, request);
            return Err(FactorError::TooMany { wait }.into());
        }
        Admission::Granted(counted) => counted,
    };
    let outcome = check(state, own, evidence, &counted).await;
    match &outcome {
        Ok(_) => {
            state.mailbox.wake_sender();
            tracing::info!(account_id = %account.id(), "session confirmed");
        }
        Err(ConfirmError::WrongPassword) => {
            failed_proofs::record(state, holder, own.author(), FailedProof::Password).await;
        }
        Err(ConfirmError::Factor(FactorError::WrongCode)) => {
            failed_proofs::record(state, holder, own.author(), FailedProof::Code).await;
        }
        Err(ConfirmError::Factor(FactorError::WrongPasskey)) => {
            failed_proofs::record(state, holder, own.author(), FailedProof::Passkey).await;
        }
        Err(_) => attempt_limits::cancel(state, &counted).await,
    }
    outcome
}

async fn subjects(
    state: &State,
    holder: &Holder,
    caller: &Caller,
    enrolled: bool,
) -> Result<Vec<Subject>, ConfirmError> {
    let email = Email::parse(&holder.email).ok_or(ConfirmError::UnknownAccount)?;
    let of = (holder.account.realm(), &email);
    let mut subjects = attempt_limits::subjects(state, &attempts::LOG_IN, of, caller).await?;
    if enrolled {
        let of_code = factor_code::subjects(state, holder, caller).await?;
        // The address counts once.
        subjects.extend(of_code.into_iter().filter(|one| !subjects.contains(one)).collect::<Vec<_>>());
    }
    Ok(subjects)
}

async fn check(
    state: &State,
    own: &OwnAccount,
    evidence: &Evidence,
    counted: &[Attempt],
) -> Result<SessionToken, ConfirmError> {
    let holder = &own.holder;
    let answer = match evidence {
        Evidence::Password { password, code } => {
            check_password(state, holder, password).await?;
            code.as_ref()
        }
        Evidence::Passkey(passkey) => Some(passkey),
    };
    let answer = match answer {
        Some(answer) => {
            let key = own.ceremony(CeremonyPurpose::Confirm);
            Some(use_passkey::check(state, holder.account, answer, key).await?)
        }
        None => None,
    };
    let database = &state.unit.database;
    let now = state.unit.clock.now();
    let new = SessionToken::generate(&state.unit.entropy);
    let tokens = (own.token.digest(), new.digest());
    let renewed: Result<(), ConfirmError> = database
        .transaction(async |conn| {
            // Before the factor and the sessions, as resets of the factor do.
            accounts::lock(conn, holder.account).await?;
            let is_passkey = matches!(answer, Some(CheckedAnswer::Passkey(_)));
            let proof = match is_passkey || second_factors::is_enrolled(conn, holder.account).await? {
                true => {
                    let answer = answer.as_ref().ok_or(ConfirmError::CodeRequired)?;
                    Some(state.factors.accept(conn, holder.account, answer).await?)
                }
                false => None,
            };
            attempts::cancel(conn, counted).await?;
            record(conn, state, own, proof).await?;
            let is_renewed = sessions::renew(conn, tokens, now).await?;
            is_renewed.then_some(()).ok_or(ConfirmError::SessionEnded)
        })
        .await;
    renewed?;
    Ok(new)
}

async fn check_password(state: &State, holder: &Holder, password: &Password) -> Result<(), ConfirmError> {
    let database = &state.unit.database;
    let found = database.read(async |conn| accounts::credentials(conn, holder.account).await).await;
    let found: Option<Credentials> = found?;
    let stored = found.and_then(|found| found.password_hash).ok_or(ConfirmError::UnknownAccount)?;
    let requester = Requester::Known(holder.email.clone());
    let is_right = state.passwords.verify(password, Some(&stored), requester).await?;
    is_right.then_some(()).ok_or(ConfirmError::WrongPassword)
}

async fn record(
    conn: &mut AsyncPgConnection,
    state: &State,
    own: &OwnAccount,
    proof: Option<Proof>,
) -> Result<(), StoreError> {
    if proof == Some(Proof::RecoveryCode) {
        mail_holder(conn, state, &own.holder, FactorNews::RecoveryCodeUsed).await?;
    }
    let event = AuditEvent::new(Action::SessionConfirmed);
    let event = match proof {
        Some(proof) => event.with("secondFactor", proof.as_str()),
        None => event,
    };
    write_entry(conn, state, own.holder.account, own.author(), &event).await
}
