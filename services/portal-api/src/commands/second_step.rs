//! A user completes the log-in with their second factor.

use domain::RequestId;
use postgres::StoreError;

use super::attempt_limits::{self, Caller, clear_failures};
use super::audit::{try_write_account_audit, write_audit};
use super::challenge::{self, ChallengeError};
use super::factor_code::{self, CountedTry, Holder, Proof, mail_holder};
use super::open_session::{Browser, OpenedSession, open_after_log_in};
use super::sso_required;
use super::use_passkey::{self, FactorAnswer};
use crate::domain::{
    Account, Action, AuditEvent, Author, CeremonyKey, CeremonyPurpose, Credentials, Email, SecretToken,
    Subject, Target, TargetKind,
};
use crate::mail::FactorNews;
use crate::state::State;
use crate::store::accounts;
use crate::store::log_in_challenges::{self, Challenge};

pub(crate) struct SecondStep {
    /// Of the challenge.
    pub(crate) token: SecretToken,
    pub(crate) answer: FactorAnswer,
    pub(crate) caller: Caller,
    pub(crate) browser: Browser,
    pub(crate) request: Option<RequestId>,
}

/// Counts the try, checks the answer, and opens the session.
pub(crate) async fn second_step(state: &State, step: SecondStep) -> Result<OpenedSession, ChallengeError> {
    let challenge = challenge::take_try(state, &step.token).await?;
    let credentials = credentials(state, &challenge).await?.ok_or(ChallengeError::Ended)?;
    let holder = Holder { account: challenge.account, email: credentials.email.clone() };
    let counted = factor_code::count(state, &holder, &step.caller).await?;
    // As after a log-in without a second factor.
    let password_subjects = password_subjects(state, &credentials, &step.caller).await?;
    let opened = open(state, &step, &holder, &credentials, (&counted, &password_subjects)).await;
    match &opened {
        Ok(opened) => {
            state.mailbox.wake_sender();
            tracing::info!(
                business_id = %credentials.business,
                user_id = %credentials.user,
                session_id = %opened.session.id,
                "user logged in with a second factor"
            );
        }
        Err(ChallengeError::Factor(error)) if error.failure().is_some() => {
            let event = AuditEvent::new(Action::SessionFailed)
                .on(holder.account.target(&holder.email))
                .with("secondFactor", error.failure());
            let author = Author::system(step.request).at(step.caller.address.clone());
            try_write_account_audit(state, credentials.account, &author, &event).await;
        }
        Err(_) => attempt_limits::cancel(state, &counted.attempts).await,
    }
    opened
}

/// The account of the challenge. `None` if the account is none of a user, was removed, or has another password since.
async fn credentials(state: &State, challenge: &Challenge) -> Result<Option<Credentials>, StoreError> {
    let Account::User(account) = challenge.account else { return Ok(None) };
    let database = &state.unit.database;
    let found = database.read(async |conn| accounts::credentials(conn, account).await).await;
    let found: Option<Credentials> = found?;
    let is_for = |hash: &String| challenge::is_for(challenge, hash);
    Ok(found.filter(|found| found.password_hash.as_ref().is_some_and(is_for)))
}

async fn password_subjects(
    state: &State,
    credentials: &Credentials,
    caller: &Caller,
) -> Result<Vec<Subject>, StoreError> {
    match Email::parse(&credentials.email) {
        Some(email) => attempt_limits::subjects(state, &attempt_limits::LOG_IN, &email, caller).await,
        None => Ok(Vec::new()),
    }
}

async fn open(
    state: &State,
    step: &SecondStep,
    holder: &Holder,
    credentials: &Credentials,
    (counted, password_subjects): (&CountedTry, &[Subject]),
) -> Result<OpenedSession, ChallengeError> {
    let key = CeremonyKey::new(CeremonyPurpose::LogIn, step.token.digest());
    let answer = use_passkey::check(state, holder.account, &step.answer, key).await?;
    state
        .unit
        .database
        .transaction(async |conn| {
            // The password may have changed since the challenge was found.
            if !accounts::lock_unchanged(
                conn,
                Account::User(credentials.account),
                credentials.password_hash.as_deref(),
            )
            .await?
            {
                return Err(ChallengeError::Ended);
            }
            // Set up, or the role has changed, since the password was checked.
            let membership = sso_required::latest_membership(conn, state, credentials).await?;
            let proof = factor_code::accept(conn, state, holder.account, &answer).await?;
            if !log_in_challenges::remove(conn, &step.token).await? {
                return Err(ChallengeError::Ended);
            }
            clear_failures(conn, &counted.subjects, &counted.attempts).await?;
            clear_failures(conn, password_subjects, &[]).await?;
            if proof == Proof::RecoveryCode {
                mail_holder(conn, state, holder, FactorNews::RecoveryCodeUsed).await?;
            }
            let opened =
                open_after_log_in(conn, state, credentials, membership, &step.caller, &step.browser).await?;
            let author = Author::of(&opened.session, step.request).at(step.caller.address.clone());
            let target = Target::new(TargetKind::Session, opened.session.id);
            let event =
                AuditEvent::new(Action::SessionOpened).on(target).with("secondFactor", proof.as_str());
            write_audit(conn, state, opened.session.business, &author, &event).await?;
            Ok(opened)
        })
        .await
}
