//! A browser returns from the identity provider of a business: it opens a session, or confirms one.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, UserId};
use identity::SessionToken;
use identity::single_sign_on::sso_log_ins::SsoVisit;
use identity::single_sign_on::{ProviderError, SsoIdentity, SsoPurpose, SsoSubject};
use postgres::StoreError;

use crate::account::commands::open_session::{OpenedSession, Proved, open};
use crate::audit::commands::audit::{try_write_audit, write_audit};
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::domain::BusinessStatus;
use crate::domain::{User, UserAccount};
use crate::single_sign_on::commands::sso_proof::{self, Proof, ProofError, SsoOutcome, SsoReturn, is_since};
use crate::single_sign_on::commands::user_from_sso::{self, SsoUser};
use crate::single_sign_on::domain::BusinessSso;
use crate::single_sign_on::store::sso_users;
use crate::state::State;
use crate::store::{business_sso, businesses, closings, user_sessions};

#[derive(Debug, thiserror::Error)]
pub(crate) enum BusinessSsoError {
    #[error("single sign-on is off, or the business is unknown")]
    Off,
    #[error("no group of the person gives a role")]
    NoRole,
    #[error("the provider names no usable e-mail address")]
    NoEmail,
    #[error("the groups would demote the last owner with a password")]
    LastOwner,
    #[error("the business has the maximum number of users")]
    TooManyUsers,
    #[error("the business is not active, and the person is no user yet")]
    NotActive,
    #[error("the settings would let in everybody whom the provider knows, and the person is no user yet")]
    OpenToAnyone,
    #[error("the user was removed in the meantime")]
    Gone,
    #[error("the identity is not that of the session's person")]
    OtherPerson,
    #[error("the person authenticated too long ago, or the provider does not say when")]
    NotRecent,
    #[error(transparent)]
    Proof(#[from] ProofError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl BusinessSsoError {
    /// The reason for the audit log. `None` if nothing was tried, or nothing is known about the person.
    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::NoRole => Some("no_role"),
            Self::NoEmail => Some("no_email"),
            Self::LastOwner => Some("last_owner"),
            Self::TooManyUsers => Some("too_many_users"),
            Self::NotActive => Some("business_not_active"),
            Self::OpenToAnyone => Some("open_to_anyone"),
            Self::OtherPerson => Some("other_person"),
            Self::NotRecent => Some("not_recent"),
            Self::Proof(error) => error.reason(),
            Self::Off | Self::Gone | Self::Store(_) => None,
        }
    }
}

/// `business` is that of the page to which the provider has sent the browser.
pub(crate) async fn complete(
    state: &State,
    business: BusinessId,
    returned: &SsoReturn,
) -> Result<SsoOutcome, BusinessSsoError> {
    if !state.business_sso.is_available() {
        return Err(BusinessSsoError::Off);
    }
    let database = &state.unit.database;
    let found = database.read(async |conn| business_sso::find(conn, business).await).await;
    let found: Option<BusinessSso> = found?;
    let sso = found.ok_or(BusinessSsoError::Off)?;
    let party = state.business_sso.party(business, &sso.provider).map_err(ProofError::from)?;
    let subject = SsoSubject::Business(business);
    let proved = sso_proof::prove(state, &party, subject, returned).await;
    let outcome = match proved {
        Ok(proof) => apply(state, (business, &sso), returned, &proof).await,
        Err(error) => Err(error.into()),
    };
    if let Err(error) = &outcome
        && let Some(reason) = error.reason()
    {
        tracing::warn!(%error, business_id = %business, "single sign-on failed");
        let event = AuditEvent::new(Action::SessionFailed).with("singleSignOn", reason);
        try_write_audit(state, business, &returned.visitor.unknown(), &event).await;
    }
    outcome
}

async fn apply(
    state: &State,
    of: (BusinessId, &BusinessSso),
    returned: &SsoReturn,
    Proof { visit, identity }: &Proof,
) -> Result<SsoOutcome, BusinessSsoError> {
    match visit.purpose {
        SsoPurpose::LogIn => log_in(state, of, returned, identity).await.map(SsoOutcome::Opened),
        SsoPurpose::Confirm if is_since(identity, visit.started_at) => {
            let (token, expires_at) = confirm(state, of, returned, visit, identity).await?;
            Ok(SsoOutcome::Confirmed(token, expires_at))
        }
        SsoPurpose::Confirm => Err(BusinessSsoError::NotRecent),
        // Only the staff link accounts.
        SsoPurpose::Link => Err(ProofError::Ended.into()),
    }
}

async fn log_in(
    state: &State,
    (business, before): (BusinessId, &BusinessSso),
    returned: &SsoReturn,
    identity: &SsoIdentity,
) -> Result<OpenedSession, BusinessSsoError> {
    let authenticated_at = sso_proof::authenticated_at(identity, state.unit.clock.now());
    let authenticated_at = authenticated_at.ok_or(BusinessSsoError::NotRecent)?;
    let by = |user: &User| author(returned, user.id, &user.email);
    let opened: Result<Option<(UserId, OpenedSession)>, BusinessSsoError> = state
        .unit
        .database
        .transaction(async |conn| {
            let found = businesses::find_for_update(conn, business).await?.ok_or(BusinessSsoError::Off)?;
            let is_closed = closings::is_closed(conn, business).await?;
            let is_active = found.status == BusinessStatus::Active && !is_closed;
            let sso = still_configured(conn, business, before).await?;
            let found =
                user_from_sso::find_or_provision(conn, state, (business, &sso, is_active), identity, by)
                    .await?;
            let (account, user): (UserAccount, UserId) = match found {
                SsoUser::Active(account, user) => (account, user),
                // Committed: the person has lost the access.
                SsoUser::WithoutRole => return Ok(None),
            };
            reseal(conn, state, business, &sso).await?;
            let holder = (account.account.into(), Some((business, user)));
            let proved = Proved::ByProvider { authenticated_at };
            let opened = open(conn, state, holder, &returned.visitor.browser, proved).await?;
            let event = AuditEvent::new(Action::SessionOpened)
                .on(Target::new(TargetKind::Session, opened.id))
                .with("singleSignOn", identity.issuer.as_str());
            let author = author(returned, user, &account.email);
            write_audit(conn, state, business, &author, &event).await?;
            Ok(Some((user, opened)))
        })
        .await;
    let (user_id, opened) = opened?.ok_or(BusinessSsoError::NoRole)?;
    state.mailbox.wake_sender();
    tracing::info!(
        business_id = %business,
        %user_id,
        session_id = %opened.id,
        "user logged in with single sign-on"
    );
    Ok(opened)
}

/// The present settings. An owner may have changed them since: the provider that has proved the identity must still be that of the
/// business.
async fn still_configured(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    before: &BusinessSso,
) -> Result<BusinessSso, BusinessSsoError> {
    let sso = business_sso::find(conn, business).await?.ok_or(BusinessSsoError::Off)?;
    if !sso.provider.is_same_client(&before.provider) {
        return Err(ProofError::Ended.into());
    }
    Ok(sso)
}

/// After a change of the key, so that the former key can be removed later.
async fn reseal(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
    sso: &BusinessSso,
) -> Result<(), BusinessSsoError> {
    let resealed = state.business_sso.reseal(business, &sso.provider, &state.unit.entropy);
    match resealed.map_err(|error| ProviderError::Unavailable(error.to_string())) {
        Ok(None) => Ok(()),
        Ok(Some(provider)) => {
            Ok(business_sso::put(conn, business, &BusinessSso { provider, ..sso.clone() }).await?)
        }
        Err(error) => Err(ProofError::from(error).into()),
    }
}

/// The session that the visit was started for, if it is still that of the browser. Somebody whose groups give no role loses the
/// access, as at a log-in; with another role they log in again.
async fn confirm(
    state: &State,
    (business, before): (BusinessId, &BusinessSso),
    returned: &SsoReturn,
    visit: &SsoVisit,
    identity: &SsoIdentity,
) -> Result<(SessionToken, DateTime<Utc>), BusinessSsoError> {
    let now = state.unit.clock.now();
    let new = SessionToken::generate(&state.unit.entropy);
    let token = sso_proof::session_token(returned, visit)?;
    let confirmed: Result<Option<DateTime<Utc>>, BusinessSsoError> = state
        .unit
        .database
        .transaction(async |conn| {
            let session = user_sessions::find(conn, token, state.user_sessions.at(now)).await?;
            let session = session.ok_or(ProofError::Ended)?;
            // A provider confirms only what it has opened.
            if session.business != business || !session.single_sign_on {
                return Err(ProofError::Ended.into());
            }
            let person = sso_users::find_user(conn, business, identity).await?;
            if person != Some(session.user) {
                return Err(BusinessSsoError::OtherPerson);
            }
            let sso = still_configured(conn, session.business, before).await?;
            let Some(role) = sso.access.role_of(identity) else {
                let by = |user: &User| author(returned, user.id, &user.email);
                user_from_sso::lose_access(conn, state, (session.business, session.user), by).await?;
                // Committed, as at a log-in.
                return Ok(None);
            };
            if role != session.role {
                return Err(ProofError::Ended.into());
            }
            sso_proof::renew(conn, (token, &new), identity, now).await?;
            let event =
                AuditEvent::new(Action::SessionConfirmed).with("singleSignOn", identity.issuer.as_str());
            let author = author(returned, session.user, &session.email);
            write_audit(conn, state, business, &author, &event).await?;
            Ok(Some(session.expires_at))
        })
        .await;
    Ok((new, confirmed?.ok_or(BusinessSsoError::NoRole)?))
}

fn author(returned: &SsoReturn, user: UserId, email: &str) -> Author {
    Author::user(user, email, returned.visitor.request).at(returned.visitor.caller.address.clone())
}
