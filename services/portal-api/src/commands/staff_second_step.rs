//! A person of the staff completes the log-in with their second factor.

use domain::RequestId;
use postgres::StoreError;

use super::attempt_limits::{self, Caller, clear_failures};
use super::audit::write_operator_audit;
use super::challenge::{self, ChallengeError};
use super::factor_code::{self, CountedTry, Holder, Proof, mail_holder};
use super::open_session::Browser;
use super::operator_session::{self, OpenedConsole};
use super::staff_log_in::is_linked;
use super::use_passkey::{self, FactorAnswer};
use crate::domain::{
    Account, Action, AuditEvent, Author, CeremonyKey, CeremonyPurpose, Email, OperatorActor, OperatorCaller,
    SecretToken, StaffCredentials,
};
use crate::mail::FactorNews;
use crate::state::State;
use crate::store::log_in_challenges::{self, Challenge};
use crate::store::{accounts, staff};

pub(crate) struct StaffSecondStep {
    /// Of the challenge.
    pub(crate) token: SecretToken,
    pub(crate) answer: FactorAnswer,
    pub(crate) caller: Caller,
    pub(crate) browser: Browser,
    pub(crate) request: Option<RequestId>,
}

/// Counts the try, checks the answer, and opens the session.
pub(crate) async fn second_step(
    state: &State,
    step: StaffSecondStep,
) -> Result<OpenedConsole, ChallengeError> {
    let challenge = challenge::take_try(state, &step.token).await?;
    let person = credentials(state, &challenge).await?.ok_or(ChallengeError::Ended)?;
    let holder = Holder { account: challenge.account, email: person.email.clone() };
    let counted = factor_code::count(state, &holder, &step.caller).await?;
    let opened = open(state, &step, &holder, &person, &counted).await;
    match &opened {
        Ok(_) => {
            state.mailbox.wake_sender();
            tracing::info!(staff_id = %person.id, "person of the staff logged in with a second factor");
        }
        Err(ChallengeError::Factor(error)) if error.failure().is_some() => {
            audit_failure(state, &step, &holder, error.failure()).await?;
        }
        Err(_) => attempt_limits::cancel(state, &counted.attempts).await,
    }
    opened
}

/// The person of the challenge. `None` if it is one of a user, or the person was removed or has another password since.
async fn credentials(state: &State, challenge: &Challenge) -> Result<Option<StaffCredentials>, StoreError> {
    let Account::Staff(id) = challenge.account else { return Ok(None) };
    let database = &state.unit.database;
    let found = database
        .read(async |conn| {
            let email = staff::find(conn, id).await?.and_then(|person| Email::parse(&person.email));
            match email {
                Some(email) => staff::credentials(conn, &email).await,
                None => Ok(None),
            }
        })
        .await;
    let found: Option<StaffCredentials> = found?;
    let is_for = |hash: &String| challenge::is_for(challenge, hash);
    Ok(found.filter(|person| person.id == id && person.password_hash.as_ref().is_some_and(is_for)))
}

async fn open(
    state: &State,
    step: &StaffSecondStep,
    holder: &Holder,
    person: &StaffCredentials,
    counted: &CountedTry,
) -> Result<OpenedConsole, ChallengeError> {
    let key = CeremonyKey::new(CeremonyPurpose::LogIn, step.token.digest());
    let answer = use_passkey::check(state, holder.account, &step.answer, key).await?;
    let actor = OperatorActor::Person { id: person.id, email: person.email.clone() };
    let caller = OperatorCaller { actor, address: step.caller.address.clone() };
    let author = Author::operator(caller, step.request);
    state
        .unit
        .database
        .transaction(async |conn| {
            // The password may have changed since the challenge was found, and the account may have been linked.
            if !accounts::lock_unchanged(conn, Account::Staff(person.id), person.password_hash.as_deref())
                .await?
                || is_linked(conn, state, person.id).await?
            {
                return Err(ChallengeError::Ended);
            }
            let proof = factor_code::accept(conn, state, holder.account, &answer).await?;
            if !log_in_challenges::remove(conn, &step.token).await? {
                return Err(ChallengeError::Ended);
            }
            clear_failures(conn, &counted.subjects, &counted.attempts).await?;
            if let Some(email) = Email::parse(&person.email) {
                let password =
                    attempt_limits::staff_subjects(state, &attempt_limits::LOG_IN, &email, &step.caller);
                clear_failures(conn, &password, &[]).await?;
            }
            if proof == Proof::RecoveryCode {
                mail_holder(conn, state, holder, FactorNews::RecoveryCodeUsed).await?;
            }
            let event = AuditEvent::new(Action::SessionOpened).with("secondFactor", proof.as_str());
            let from = (&step.caller, &step.browser);
            Ok(operator_session::insert_after_log_in(conn, state, person, from, &author, event).await?)
        })
        .await
}

async fn audit_failure(
    state: &State,
    step: &StaffSecondStep,
    holder: &Holder,
    reason: Option<&'static str>,
) -> Result<(), StoreError> {
    let caller = OperatorCaller { actor: OperatorActor::Unknown, address: step.caller.address.clone() };
    let author = Author::operator(caller, step.request);
    let event = AuditEvent::new(Action::SessionFailed)
        .on(holder.account.target(&holder.email))
        .with("secondFactor", reason);
    let parts = (&state.unit.clock, &state.unit.entropy);
    let database = &state.unit.database;
    database.read(async |conn| write_operator_audit(conn, parts, None, &author, &event).await).await
}
