//! A browser returns from the identity provider: it opens a session, confirms one, or links an account.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{RequestId, StaffId};
use postgres::StoreError;

use super::attempt_limits::Caller;
use super::audit::write_operator_audit;
use super::open_session::Browser;
use super::operator_session::{self, OpenedConsole};
use super::staff_from_sso::{self, SsoPerson};
use crate::domain::{
    Action, AuditEvent, Author, OperatorActor, OperatorCaller, SSO_AUTHENTICATION_LASTS, SecretToken,
    SessionToken, SsoIdentity, SsoPurpose, SsoResponse, SsoResult, SsoSecrets, Target, TargetKind,
};
use crate::single_sign_on::{CLOCK_SKEW, ProviderError, SingleSignOn};
use crate::state::State;
use crate::store::sso_log_ins::{self, SsoVisit};
use crate::store::staff_identities;
use crate::store::staff_sessions::{self, StaffSession};

pub(crate) struct SsoReturn {
    /// The value of the browser's cookie.
    pub(crate) token: SecretToken,
    pub(crate) response: SsoResponse,
    /// With its present session.
    pub(crate) browser: Browser,
    pub(crate) caller: Caller,
    pub(crate) request: Option<RequestId>,
}

pub(crate) enum SsoOutcome {
    Opened(OpenedConsole),
    /// The new token of the session with its end; `None` if another call has just confirmed it.
    Confirmed(Option<(SessionToken, DateTime<Utc>)>),
    Linked,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CompleteSsoError {
    #[error("single sign-on is off")]
    Off,
    #[error("the visit has expired, has returned before, or belongs to another browser or session")]
    Ended,
    #[error("the person or the provider declined")]
    Declined,
    #[error("no group of the person gives a role")]
    NoRole,
    #[error("the provider names no usable e-mail address")]
    NoEmail,
    #[error("an account with this e-mail address exists, and is not linked")]
    AccountExists,
    #[error("the staff has the maximum number of persons")]
    TooManyStaff,
    #[error("the identity is not that of the session's person")]
    OtherPerson,
    #[error("the identity or the account is linked already")]
    AlreadyLinked,
    #[error("the person authenticated too long ago, or the provider does not say when")]
    NotRecent,
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CompleteSsoError {
    /// The reason for the audit log. `None` if nothing was tried, or nothing is known about the person.
    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::NoRole => Some("no_role"),
            Self::NoEmail => Some("no_email"),
            Self::AccountExists => Some("account_exists"),
            Self::TooManyStaff => Some("too_many_staff"),
            Self::OtherPerson => Some("other_person"),
            Self::AlreadyLinked => Some("already_linked"),
            Self::NotRecent => Some("not_recent"),
            Self::Provider(ProviderError::Rejected(_)) => Some("response_rejected"),
            Self::Off
            | Self::Ended
            | Self::Declined
            | Self::Provider(ProviderError::Unavailable(_))
            | Self::Store(_) => None,
        }
    }
}

/// Ends the visit first, so that neither a state nor a code is tried twice.
pub(crate) async fn complete(state: &State, returned: &SsoReturn) -> Result<SsoOutcome, CompleteSsoError> {
    let sso = state.single_sign_on.as_ref().ok_or(CompleteSsoError::Off)?;
    let secrets = SsoSecrets::of(&returned.token);
    if !secrets.has_state(&returned.response.state) {
        return Err(CompleteSsoError::Ended);
    }
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    let taken =
        database.read(async |conn| sso_log_ins::take(conn, &returned.token, sso.issuer(), now).await).await;
    let taken: Option<SsoVisit> = taken?;
    let visit = taken.ok_or(CompleteSsoError::Ended)?;
    let outcome = match prove(sso, &returned.response, &secrets).await {
        Ok(identity) => apply(state, sso, returned, &visit, &identity).await,
        Err(error) => Err(error),
    };
    if let Err(error) = &outcome
        && let Some(reason) = error.reason()
    {
        tracing::warn!(%error, "single sign-on failed");
        record_failure(state, returned, reason).await?;
    }
    outcome
}

async fn prove(
    sso: &SingleSignOn,
    response: &SsoResponse,
    secrets: &SsoSecrets<'_>,
) -> Result<SsoIdentity, CompleteSsoError> {
    sso.check_issuer(response.issuer.as_deref()).await?;
    match &response.result {
        SsoResult::Declined => Err(CompleteSsoError::Declined),
        SsoResult::Code(code) => Ok(sso.redeem(code.clone(), secrets).await?),
    }
}

async fn apply(
    state: &State,
    sso: &SingleSignOn,
    returned: &SsoReturn,
    visit: &SsoVisit,
    identity: &SsoIdentity,
) -> Result<SsoOutcome, CompleteSsoError> {
    match visit.purpose {
        SsoPurpose::LogIn => log_in(state, sso, returned, identity).await.map(SsoOutcome::Opened),
        // An open session at the provider may be that of another person.
        SsoPurpose::Confirm | SsoPurpose::Link if !is_since(identity, visit.started_at) => {
            Err(CompleteSsoError::NotRecent)
        }
        SsoPurpose::Confirm => confirm(state, returned, visit, identity).await.map(SsoOutcome::Confirmed),
        SsoPurpose::Link => {
            sso.role_of(identity).ok_or(CompleteSsoError::NoRole)?;
            link(state, returned, visit, identity).await.map(|()| SsoOutcome::Linked)
        }
    }
}

/// The provider's statement is compared, because it may ignore the request to authenticate again.
fn is_since(identity: &SsoIdentity, time: DateTime<Utc>) -> bool {
    identity.authenticated_at.is_some_and(|at| at >= time - CLOCK_SKEW)
}

async fn log_in(
    state: &State,
    sso: &SingleSignOn,
    returned: &SsoReturn,
    identity: &SsoIdentity,
) -> Result<OpenedConsole, CompleteSsoError> {
    let now = state.unit.clock.now();
    if identity.authenticated_at.is_some() && !is_since(identity, now - SSO_AUTHENTICATION_LASTS) {
        return Err(CompleteSsoError::NotRecent);
    }
    // Without a statement of the provider, sensitive calls need a confirmation.
    let authenticated_at = identity.authenticated_at.unwrap_or_default().min(now);
    let opened: Result<Option<(StaffId, OpenedConsole)>, CompleteSsoError> = state
        .unit
        .database
        .transaction(async |conn| {
            let role = sso.role_of(identity);
            let by = |actor| author(returned, actor);
            let person = match staff_from_sso::find_or_provision(conn, state, identity, role, by).await? {
                SsoPerson::Active(person) => person,
                // Committed: the person has lost the access.
                SsoPerson::WithoutRole => return Ok(None),
            };
            let author = author(returned, OperatorActor::Person { id: person.id, email: person.email });
            let event = AuditEvent::new(Action::SessionOpened).with("singleSignOn", identity.issuer.as_str());
            let browser = &returned.browser;
            let opened = operator_session::insert(conn, state, person.id, browser, &author, &event).await?;
            staff_sessions::set_single_sign_on(conn, &opened.token, authenticated_at).await?;
            Ok(Some((person.id, opened)))
        })
        .await;
    let (person, opened) = opened?.ok_or(CompleteSsoError::NoRole)?;
    state.mailbox.wake_sender();
    tracing::info!(staff_id = %person, "person of the staff logged in with single sign-on");
    Ok(opened)
}

async fn confirm(
    state: &State,
    returned: &SsoReturn,
    visit: &SsoVisit,
    identity: &SsoIdentity,
) -> Result<Option<(SessionToken, DateTime<Utc>)>, CompleteSsoError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let (now, new) = (state.unit.clock.now(), SessionToken::generate(&state.unit.entropy));
    let confirmed: Result<Option<DateTime<Utc>>, CompleteSsoError> = state
        .unit
        .database
        .transaction(async |conn| {
            let (token, session) = session_of(conn, state, returned, visit).await?;
            if staff_identities::find(conn, identity).await? != Some(session.id) {
                return Err(CompleteSsoError::OtherPerson);
            }
            let at = identity.authenticated_at.unwrap_or_default().min(now);
            let (expires_at, is_renewed) =
                (session.expires_at, staff_sessions::renew(conn, (token, &new), at, now).await?);
            let event =
                AuditEvent::new(Action::SessionConfirmed).with("singleSignOn", identity.issuer.as_str());
            let author = author(returned, person_of(session));
            write_operator_audit(conn, parts, None, &author, &event).await?;
            Ok(is_renewed.then_some(expires_at))
        })
        .await;
    Ok(confirmed?.map(|expires_at| (new, expires_at)))
}

/// The person has decided it in an open session. An equal e-mail address links nothing.
async fn link(
    state: &State,
    returned: &SsoReturn,
    visit: &SsoVisit,
    identity: &SsoIdentity,
) -> Result<(), CompleteSsoError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let now = state.unit.clock.now();
    state
        .unit
        .database
        .transaction(async |conn| {
            let (_, session) = session_of(conn, state, returned, visit).await?;
            if !staff_identities::insert(conn, identity, session.id, now).await? {
                return Err(CompleteSsoError::AlreadyLinked);
            }
            let event = AuditEvent::new(Action::StaffIdentityLinked)
                .on(Target::new(TargetKind::Staff, session.id).labelled(&session.email))
                .with("issuer", identity.issuer.as_str());
            let author = author(returned, person_of(session));
            Ok(write_operator_audit(conn, parts, None, &author, &event).await?)
        })
        .await
}

/// The session that the visit was started for, if it is still that of the browser.
async fn session_of<'a>(
    conn: &mut AsyncPgConnection,
    state: &State,
    returned: &'a SsoReturn,
    visit: &SsoVisit,
) -> Result<(&'a SessionToken, StaffSession), CompleteSsoError> {
    let token = returned.browser.replaces.as_ref().ok_or(CompleteSsoError::Ended)?;
    if visit.session_digest.as_deref() != Some(&token.digest()[..]) {
        return Err(CompleteSsoError::Ended);
    }
    let open = state.console_sessions.at(state.unit.clock.now());
    let session = staff_sessions::find(conn, token, open).await?.ok_or(CompleteSsoError::Ended)?;
    Ok((token, session))
}

fn person_of(session: StaffSession) -> OperatorActor {
    OperatorActor::Person { id: session.id, email: session.email }
}

fn author(returned: &SsoReturn, actor: OperatorActor) -> Author {
    let caller = OperatorCaller { actor, address: returned.caller.address.clone() };
    Author::operator(caller, returned.request)
}

async fn record_failure(state: &State, returned: &SsoReturn, reason: &str) -> Result<(), StoreError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let author = author(returned, OperatorActor::Unknown);
    let event = AuditEvent::new(Action::SessionFailed).with("singleSignOn", reason);
    let database = &state.unit.database;
    database.read(async |conn| write_operator_audit(conn, parts, None, &author, &event).await).await
}
