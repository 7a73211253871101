//! A browser returns from the identity provider: it opens a session, confirms one, or links an account.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::StaffId;
use identity::single_sign_on::sso_log_ins::SsoVisit;
use identity::single_sign_on::{SsoIdentity, SsoPurpose, SsoSubject, identities};
use identity::{Account, SessionToken};
use postgres::StoreError;

use crate::account::commands::open_session::must_enrol;
use crate::account::commands::open_session::{OpenedSession, Proved, open};
use crate::audit::commands::audit::write_operator_audit;
use crate::audit::domain::{Action, AuditEvent, Target, TargetKind};
use crate::domain::OperatorActor;
use crate::single_sign_on::commands::sso_proof::{self, Proof, ProofError, SsoOutcome, SsoReturn, is_since};
use crate::single_sign_on::commands::staff_from_sso::{self, SsoPerson};
use crate::single_sign_on::providers::StaffSignOn;
use crate::state::State;
use crate::store::console_sessions::{self, StaffSession};
use crate::store::staff;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CompleteSsoError {
    #[error("single sign-on is off")]
    Off,
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
    Proof(#[from] ProofError),
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
            Self::Proof(error) => error.reason(),
            Self::Off | Self::Store(_) => None,
        }
    }
}

pub(crate) async fn complete(state: &State, returned: &SsoReturn) -> Result<SsoOutcome, CompleteSsoError> {
    let sso = state.single_sign_on.as_ref().ok_or(CompleteSsoError::Off)?;
    let proved = sso_proof::prove(state, sso, SsoSubject::Staff, returned).await;
    let outcome = match proved {
        Ok(proof) => apply(state, sso, returned, &proof).await,
        Err(error) => Err(error.into()),
    };
    if let Err(error) = &outcome
        && let Some(reason) = error.reason()
    {
        tracing::warn!(%error, "single sign-on failed");
        let event = AuditEvent::new(Action::SessionFailed).with("singleSignOn", reason);
        let (parts, author) = ((&state.unit.clock, &state.unit.entropy), returned.visitor.unknown());
        let database = &state.unit.database;
        let written: Result<(), StoreError> =
            database.read(async |conn| write_operator_audit(conn, parts, None, &author, &event).await).await;
        written?;
    }
    outcome
}

async fn apply(
    state: &State,
    sso: &StaffSignOn,
    returned: &SsoReturn,
    Proof { visit, identity }: &Proof,
) -> Result<SsoOutcome, CompleteSsoError> {
    match visit.purpose {
        SsoPurpose::LogIn => log_in(state, sso, returned, identity).await.map(SsoOutcome::Opened),
        // An open session at the provider may be that of another person.
        SsoPurpose::Confirm | SsoPurpose::Link if !is_since(identity, visit.started_at) => {
            Err(CompleteSsoError::NotRecent)
        }
        SsoPurpose::Confirm => {
            let (token, expires_at) = confirm(state, sso, returned, visit, identity).await?;
            Ok(SsoOutcome::Confirmed(token, expires_at))
        }
        SsoPurpose::Link => {
            sso.role_of(identity).ok_or(CompleteSsoError::NoRole)?;
            link(state, returned, visit, identity).await.map(|()| SsoOutcome::Linked)
        }
    }
}

async fn log_in(
    state: &State,
    sso: &StaffSignOn,
    returned: &SsoReturn,
    identity: &SsoIdentity,
) -> Result<OpenedSession, CompleteSsoError> {
    let authenticated_at = sso_proof::authenticated_at(identity, state.unit.clock.now());
    let authenticated_at = authenticated_at.ok_or(CompleteSsoError::NotRecent)?;
    let parts = (&state.unit.clock, &state.unit.entropy);
    let opened: Result<Option<(StaffId, OpenedSession)>, CompleteSsoError> = state
        .unit
        .database
        .transaction(async |conn| {
            let role = sso.role_of(identity);
            let by = |actor| returned.visitor.operator(actor);
            let person = match staff_from_sso::find_or_provision(conn, state, identity, role, by).await? {
                SsoPerson::Active(person) => person,
                // Committed: the person has lost the access.
                SsoPerson::WithoutRole => return Ok(None),
            };
            let author = by(OperatorActor::Person { id: person.id, email: person.email });
            let event = AuditEvent::new(Action::SessionOpened).with("singleSignOn", identity.issuer.as_str());
            write_operator_audit(conn, parts, None, &author, &event).await?;
            let (holder, proved) = ((person.id.into(), None), Proved::ByProvider { authenticated_at });
            let opened = open(conn, state, holder, &returned.visitor.browser, proved).await?;
            Ok(Some((person.id, opened)))
        })
        .await;
    let (person, opened) = opened?.ok_or(CompleteSsoError::NoRole)?;
    state.mailbox.wake_sender();
    tracing::info!(staff_id = %person, "person of the staff logged in with single sign-on");
    Ok(opened)
}

/// Somebody whose groups give no role loses the access, as at a log-in; with another role they log in again.
async fn confirm(
    state: &State,
    sso: &StaffSignOn,
    returned: &SsoReturn,
    visit: &SsoVisit,
    identity: &SsoIdentity,
) -> Result<(SessionToken, DateTime<Utc>), CompleteSsoError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let (now, new) = (state.unit.clock.now(), SessionToken::generate(&state.unit.entropy));
    let confirmed: Result<Option<DateTime<Utc>>, CompleteSsoError> = state
        .unit
        .database
        .transaction(async |conn| {
            staff::lock(conn).await?;
            let (token, session) = session_of(conn, state, returned, visit).await?;
            if identities::find_staff(conn, identity).await? != Some(session.id) {
                return Err(CompleteSsoError::OtherPerson);
            }
            let Some(role) = sso.role_of(identity) else {
                let (id, author) = (session.id, returned.visitor.operator(person_of(session)));
                staff_from_sso::lose_access(conn, state, identity, id, &author).await?;
                // Committed, as at a log-in.
                return Ok(None);
            };
            if role != session.role {
                return Err(ProofError::Ended.into());
            }
            sso_proof::renew(conn, (token, &new), identity, now).await?;
            let expires_at = session.expires_at;
            let event =
                AuditEvent::new(Action::SessionConfirmed).with("singleSignOn", identity.issuer.as_str());
            let author = returned.visitor.operator(person_of(session));
            write_operator_audit(conn, parts, None, &author, &event).await?;
            Ok(Some(expires_at))
        })
        .await;
    Ok((new, confirmed?.ok_or(CompleteSsoError::NoRole)?))
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
            // The role may have changed since the visit was started.
            let is_required = !session.single_sign_on && state.factor_policy.requires_staff(session.role);
            if must_enrol(conn, session.id.into(), is_required).await? {
                return Err(ProofError::Ended.into());
            }
            if !identities::insert(conn, SsoSubject::Staff, identity, Account::Staff(session.id), now).await?
            {
                return Err(CompleteSsoError::AlreadyLinked);
            }
            let event = AuditEvent::new(Action::StaffIdentityLinked)
                .on(Target::new(TargetKind::Staff, session.id).labelled(&session.email))
                .with("issuer", identity.issuer.as_str());
            let author = returned.visitor.operator(person_of(session));
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
    let token = sso_proof::session_token(returned, visit)?;
    let open = state.console_sessions.at(state.unit.clock.now());
    let session = console_sessions::of_person(conn, token, open).await?.ok_or(ProofError::Ended)?;
    Ok((token, session))
}

fn person_of(session: StaffSession) -> OperatorActor {
    OperatorActor::Person { id: session.id, email: session.email }
}
