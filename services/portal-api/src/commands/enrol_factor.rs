//! A person sets up a second factor for their own account, replaces the recovery codes, or removes the factor.

use chrono::TimeDelta;
use identity::attempts;
use identity::second_factors::{self, FactorSecret, RecoveryCode};

use crate::commands::attempt_limits::{self, Caller};
use crate::commands::audit::write_entry;
use crate::commands::factor_code::{self, CountedTry, FactorError, Holder, mail_holder};
use crate::commands::failed_proofs::{self, FailedProof};
use crate::domain::{Action, AuditEvent, Author, Target};
use crate::mail::FactorNews;
use crate::state::State;

/// An enrolment must be confirmed within this time.
const ENROLMENT_LASTS: TimeDelta = TimeDelta::hours(1);

/// Begins an enrolment, and replaces an unfinished one. Nothing changes for log-ins until [`confirm`].
pub(crate) async fn start(state: &State, holder: &Holder) -> Result<FactorSecret, FactorError> {
    let secret = FactorSecret::generate(&state.unit.entropy);
    let sealed = state.factor_secrets.seal(&holder.account.id(), &secret, &state.unit.entropy)?;
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    let begun: Result<bool, FactorError> = database
        .transaction(async |conn| Ok(second_factors::begin(conn, holder.account, &sealed, now).await?))
        .await;
    if begun? { Ok(secret) } else { Err(FactorError::AlreadyEnrolled) }
}

/// Completes the enrolment with the first code of the app, and returns the recovery codes.
pub(crate) async fn confirm(
    state: &State,
    holder: &Holder,
    code: &str,
    caller: &Caller,
    author: &Author,
) -> Result<Vec<RecoveryCode>, FactorError> {
    let counted = factor_code::count(state, holder, caller).await?;
    let confirmed = check_and_confirm(state, holder, code, author, &counted).await;
    match confirmed {
        Ok(codes) => {
            state.mailbox.wake_sender();
            tracing::info!(account_id = %holder.account.id(), "second factor enrolled");
            Ok(codes)
        }
        Err(FactorError::WrongCode) => {
            failed_proofs::record(state, holder, author, FailedProof::FirstCode).await;
            Err(FactorError::WrongCode)
        }
        Err(error) => {
            attempt_limits::cancel(state, &counted.attempts).await;
            Err(error)
        }
    }
}

async fn check_and_confirm(
    state: &State,
    holder: &Holder,
    code: &str,
    author: &Author,
    counted: &CountedTry,
) -> Result<Vec<RecoveryCode>, FactorError> {
    let (account, now) = (holder.account, state.unit.clock.now());
    let codes = RecoveryCode::generate_set(&state.unit.entropy);
    state
        .unit
        .database
        .transaction(async |conn| {
            let factor = second_factors::find(conn, account).await?.ok_or(FactorError::NotStarted)?;
            if factor.is_confirmed {
                return Err(FactorError::AlreadyEnrolled);
            }
            if now >= factor.started_at + ENROLMENT_LASTS {
                return Err(FactorError::NotStarted);
            }
            let secret = state.factor_secrets.open(&account.id(), &factor.sealed_secret)?;
            let step = secret.step_of(code, now).ok_or(FactorError::WrongCode)?;
            if !second_factors::confirm(conn, account, step, &factor.sealed_secret, now).await? {
                return Err(FactorError::NotStarted);
            }
            second_factors::replace_recovery_codes(conn, account, &codes).await?;
            attempts::cancel(conn, &counted.attempts).await?;
            let event =
                AuditEvent::new(Action::SecondFactorEnrolled).on(Target::account(account, &holder.email));
            write_entry(conn, state, account, author, &event).await?;
            mail_holder(conn, state, holder, FactorNews::Enrolled).await?;
            Ok(codes.clone())
        })
        .await
}

/// Replaces all recovery codes, used and unused ones.
pub(crate) async fn replace_recovery_codes(
    state: &State,
    holder: &Holder,
    author: &Author,
) -> Result<Vec<RecoveryCode>, FactorError> {
    let account = holder.account;
    let codes = RecoveryCode::generate_set(&state.unit.entropy);
    let replaced: Result<(), FactorError> = state
        .unit
        .database
        .transaction(async |conn| {
            if !second_factors::lock(conn, account).await? {
                return Err(FactorError::NotEnrolled);
            }
            second_factors::replace_recovery_codes(conn, account, &codes).await?;
            let event =
                AuditEvent::new(Action::RecoveryCodesCreated).on(Target::account(account, &holder.email));
            write_entry(conn, state, account, author, &event).await?;
            Ok(mail_holder(conn, state, holder, FactorNews::RecoveryCodesCreated).await?)
        })
        .await;
    replaced?;
    state.mailbox.wake_sender();
    tracing::info!(account_id = %account.id(), "recovery codes replaced");
    Ok(codes)
}

/// Removes the factor with its recovery codes. From now on the password alone opens sessions.
pub(crate) async fn remove(state: &State, holder: &Holder, author: &Author) -> Result<(), FactorError> {
    let account = holder.account;
    let removed: Result<(), FactorError> = state
        .unit
        .database
        .transaction(async |conn| {
            if !second_factors::remove(conn, account).await? {
                return Err(FactorError::NotEnrolled);
            }
            let event =
                AuditEvent::new(Action::SecondFactorRemoved).on(Target::account(account, &holder.email));
            write_entry(conn, state, account, author, &event).await?;
            Ok(mail_holder(conn, state, holder, FactorNews::Removed).await?)
        })
        .await;
    removed?;
    state.mailbox.wake_sender();
    tracing::info!(account_id = %account.id(), "second factor removed");
    Ok(())
}
