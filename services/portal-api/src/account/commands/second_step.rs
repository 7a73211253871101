//! A user, or a person of the staff, completes the log-in with their second factor.

use domain::Email;
use identity::SecretToken;
use identity::accounts::{self, Credentials};
use identity::attempts::{self, Subject};
use identity::passkeys::{CeremonyKey, CeremonyPurpose};
use identity::second_factors::log_in_challenges::{self, Challenge};
use identity::second_factors::{FactorAnswer, Proof};
use postgres::StoreError;

use crate::account::commands::attempt_limits::{self, clear_failures};
use crate::account::commands::challenge::{self, ChallengeError};
use crate::account::commands::destination::Destination;
use crate::account::commands::factor_code::{self, CountedTry, Holder, mail_holder};
use crate::account::commands::open_session::{OpenedSession, open_after_log_in};
use crate::account::commands::use_passkey;
use crate::account::commands::visitor::Visitor;
use crate::audit::commands::audit::try_write_entry;
use crate::audit::domain::{Action, AuditEvent, Target};
use crate::mail::FactorNews;
use crate::state::State;

pub(crate) struct SecondStep {
    /// Of the challenge.
    pub(crate) token: SecretToken,
    pub(crate) answer: FactorAnswer,
    pub(crate) visitor: Visitor,
}

/// Counts the try, checks the answer, and opens the session.
pub(crate) async fn second_step(state: &State, step: SecondStep) -> Result<OpenedSession, ChallengeError> {
    let visitor = &step.visitor;
    let challenge = challenge::take_try(state, &step.token).await?;
    let credentials = credentials(state, &challenge).await?;
    let credentials = credentials.filter(|found| found.account.realm() == visitor.realm);
    let credentials = credentials.ok_or(ChallengeError::Ended)?;
    let holder = Holder { account: challenge.account, email: credentials.email.clone() };
    let counted = factor_code::count(state, &holder, &visitor.caller).await?;
    // As after a log-in without a second factor.
    let password_subjects = password_subjects(state, &credentials, visitor).await?;
    let opened = open(state, &step, &holder, &credentials, (&counted, &password_subjects)).await;
    match &opened {
        Ok(opened) => {
            state.mailbox.wake_sender();
            tracing::info!(account_id = %holder.account, session_id = %opened.id, "logged in with a second factor");
        }
        Err(ChallengeError::Factor(error)) if error.failure().is_some() => {
            let event = AuditEvent::new(Action::SessionFailed)
                .on(Target::account(holder.account, &holder.email))
                .with("secondFactor", error.failure());
            try_write_entry(state, holder.account, &visitor.unknown(), &event).await;
        }
        Err(_) => attempt_limits::cancel(state, &counted.attempts).await,
    }
    opened
}

/// The account of the challenge. `None` if it was removed, or has another password since.
async fn credentials(state: &State, challenge: &Challenge) -> Result<Option<Credentials>, StoreError> {
    let database = &state.unit.database;
    let found = database.read(async |conn| accounts::credentials(conn, challenge.account).await).await;
    let found: Option<Credentials> = found?;
    let is_for = |hash: &String| challenge.is_for(hash);
    Ok(found.filter(|found| found.password_hash.as_ref().is_some_and(is_for)))
}

async fn password_subjects(
    state: &State,
    credentials: &Credentials,
    visitor: &Visitor,
) -> Result<Vec<Subject>, StoreError> {
    let Some(email) = Email::parse(&credentials.email) else { return Ok(Vec::new()) };
    attempt_limits::subjects(state, &attempts::LOG_IN, (visitor.realm, &email), &visitor.caller).await
}

async fn open(
    state: &State,
    step: &SecondStep,
    holder: &Holder,
    credentials: &Credentials,
    (counted, password_subjects): (&CountedTry, &[Subject]),
) -> Result<OpenedSession, ChallengeError> {
    let account = holder.account;
    let key = CeremonyKey::new(CeremonyPurpose::LogIn, step.token.digest());
    let answer = use_passkey::check(state, account, &step.answer, key).await?;
    state
        .unit
        .database
        .transaction(async |conn| {
            // The password may have changed since the challenge was found.
            if !accounts::lock_unchanged(conn, account, credentials.password_hash.as_deref()).await? {
                return Err(ChallengeError::Ended);
            }
            // Single sign-on may have been set up or linked, or the role may have changed, since the password was checked.
            let to = Destination::of_password(conn, state, account).await?.ok_or(ChallengeError::Ended)?;
            let proof = state.factors.accept(conn, account, &answer).await?;
            if !log_in_challenges::remove(conn, &step.token).await? {
                return Err(ChallengeError::Ended);
            }
            clear_failures(conn, &counted.subjects, &counted.attempts).await?;
            clear_failures(conn, password_subjects, &[]).await?;
            if proof == Proof::RecoveryCode {
                mail_holder(conn, state, holder, FactorNews::RecoveryCodeUsed).await?;
            }
            let event = AuditEvent::new(Action::SessionOpened).with("secondFactor", proof.as_str());
            Ok(open_after_log_in(conn, state, credentials, &to, &step.visitor, event).await?)
        })
        .await
}
