//! What a browser brings back from an identity provider: the visit ends, and the provider proves who the person is. The same for
//! the staff and for businesses.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use identity::single_sign_on::sso_log_ins::{self, SsoVisit};
use identity::single_sign_on::{
    CLOCK_SKEW, ProviderError, RelyingParty, SSO_AUTHENTICATION_LASTS, SsoIdentity, SsoResponse, SsoResult,
    SsoSecrets, SsoSubject,
};
use identity::{SecretToken, SessionToken, sessions};
use postgres::StoreError;

use crate::account::commands::open_session::OpenedSession;
use crate::account::commands::visitor::Visitor;
use crate::state::State;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ProofError {
    #[error("the visit has expired, has returned before, or belongs to another browser, business or session")]
    Ended,
    #[error("the person or the provider declined")]
    Declined,
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ProofError {
    /// The reason for the audit log. `None` if nothing was tried.
    pub(crate) fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Provider(ProviderError::Rejected(_)) => Some("response_rejected"),
            Self::Ended | Self::Declined | Self::Provider(ProviderError::Unavailable(_)) | Self::Store(_) => {
                None
            }
        }
    }
}

/// A browser that returns.
pub(crate) struct SsoReturn {
    /// The value of the browser's cookie.
    pub(crate) token: SecretToken,
    pub(crate) response: SsoResponse,
    /// With the browser's present session.
    pub(crate) visitor: Visitor,
}

pub(crate) enum SsoOutcome {
    Opened(OpenedSession),
    /// The new token of the session with its end.
    Confirmed(SessionToken, DateTime<Utc>),
    /// Only of the staff.
    Linked,
}

/// What the provider has proved, and what the visit was for.
pub(crate) struct Proof {
    pub(crate) visit: SsoVisit,
    pub(crate) identity: SsoIdentity,
}

/// Ends the visit first, so that neither a state nor a code is tried twice.
pub(crate) async fn prove(
    state: &State,
    party: &RelyingParty,
    subject: SsoSubject,
    SsoReturn { token, response, .. }: &SsoReturn,
) -> Result<Proof, ProofError> {
    let secrets = SsoSecrets::of(token, subject);
    if !secrets.has_state(&response.state) {
        return Err(ProofError::Ended);
    }
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    let provider = (subject, party.issuer());
    let taken = database.read(async |conn| sso_log_ins::take(conn, token, provider, now).await).await;
    let taken: Option<SsoVisit> = taken?;
    let visit = taken.ok_or(ProofError::Ended)?;
    party.check_issuer(response.issuer.as_deref()).await?;
    match &response.result {
        SsoResult::Declined => Err(ProofError::Declined),
        SsoResult::Code(code) => {
            let identity = party.redeem(code.clone(), &secrets, visit.purpose).await?;
            Ok(Proof { visit, identity })
        }
    }
}

/// The session that the visit was started for, if it is still that of the browser.
pub(crate) fn session_token<'a>(
    returned: &'a SsoReturn,
    visit: &SsoVisit,
) -> Result<&'a SessionToken, ProofError> {
    let token = returned.visitor.browser.replaces.as_ref();
    let is_same = |token: &&SessionToken| visit.session_digest.as_deref() == Some(&token.digest()[..]);
    token.filter(is_same).ok_or(ProofError::Ended)
}

/// The session counts as authenticated when the provider says, and gets a new token.
pub(crate) async fn renew(
    conn: &mut AsyncPgConnection,
    (token, new): (&SessionToken, &SessionToken),
    identity: &SsoIdentity,
    now: DateTime<Utc>,
) -> Result<(), ProofError> {
    let at = identity.authenticated_at.unwrap_or_default().min(now);
    let is_renewed = sessions::renew(conn, (token.digest(), new.digest()), at).await?;
    is_renewed.then_some(()).ok_or(ProofError::Ended)
}

/// Whether the person has authenticated since then. The provider's statement is compared, because it may ignore the request to
/// authenticate again, and its open session may be that of another person.
pub(crate) fn is_since(identity: &SsoIdentity, time: DateTime<Utc>) -> bool {
    identity.authenticated_at.is_some_and(|at| at >= time - CLOCK_SKEW)
}

/// When the person of a new session authenticated; `None` if that is too long ago. Without a statement of the provider, sensitive calls
/// need a confirmation.
pub(crate) fn authenticated_at(identity: &SsoIdentity, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let is_old = identity.authenticated_at.is_some() && !is_since(identity, now - SSO_AUTHENTICATION_LASTS);
    (!is_old).then(|| identity.authenticated_at.unwrap_or_default().min(now))
}
