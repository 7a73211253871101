//! A person sets up a second factor for their own account, replaces the recovery codes, or removes the factor.

use identity::attempts;
use identity::second_factors::{self, FactorError, FactorSecret, RecoveryCode};

use crate::account::commands::attempt_limits::{self, Caller};
use crate::account::commands::factor_code::{self, CountedTry, Holder, mail_holder};
use crate::account::commands::failed_proofs::{self, FailedProof};
use crate::audit::commands::audit::write_entry;
use crate::audit::domain::{Action, AuditEvent, Author, Target};
use crate::mail::FactorNews;
use crate::state::State;

/// Begins an enrolment, and replaces an unfinished one. Nothing changes for log-ins until [`confirm`].
pub(crate) async fn start(state: &State, holder: &Holder) -> Result<FactorSecret, FactorError> {
    let database = &state.unit.database;
    database.transaction(async |conn| state.factors.begin_enrolment(conn, holder.account).await).await
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
    let account = holder.account;
    state
        .unit
        .database
        .transaction(async |conn| {
            let codes = state.factors.confirm_enrolment(conn, account, code).await?;
            attempts::cancel(conn, &counted.attempts).await?;
            let event =
                AuditEvent::new(Action::SecondFactorEnrolled).on(Target::account(account, &holder.email));
            write_entry(conn, state, account, author, &event).await?;
            mail_holder(conn, state, holder, FactorNews::Enrolled).await?;
            Ok(codes)
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
    let replaced: Result<Vec<RecoveryCode>, FactorError> = state
        .unit
        .database
        .transaction(async |conn| {
            let codes = state.factors.replace_recovery_codes(conn, account).await?;
            let event =
                AuditEvent::new(Action::RecoveryCodesCreated).on(Target::account(account, &holder.email));
            write_entry(conn, state, account, author, &event).await?;
            mail_holder(conn, state, holder, FactorNews::RecoveryCodesCreated).await?;
            Ok(codes)
        })
        .await;
    let codes = replaced?;
    state.mailbox.wake_sender();
    tracing::info!(account_id = %account, "recovery codes replaced");
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
