//! Sends a browser to the identity provider.

use chrono::{DateTime, TimeDelta, Utc};
use domain::BusinessId;
use identity::attempts::{self, Admission};
use identity::single_sign_on::{
    ProviderError, RelyingParty, SSO_LASTS, SsoPurpose, SsoSecrets, SsoSubject, sso_log_ins,
};
use identity::{SecretToken, SessionToken};
use postgres::StoreError;
use url::Url;

use crate::account::commands::attempt_limits::{self, Caller};
use crate::single_sign_on::domain::BusinessSso;
use crate::state::State;
use crate::store::business_sso;

pub(crate) struct SsoStart {
    /// Whose provider is visited.
    pub(crate) subject: SsoSubject,
    pub(crate) purpose: SsoPurpose,
    /// The session that is confirmed, or whose account is linked.
    pub(crate) session: Option<SessionToken>,
    pub(crate) caller: Caller,
}

pub(crate) struct StartedSso {
    /// Where the browser authenticates.
    pub(crate) url: Url,
    /// The value of the cookie, which only this browser has.
    pub(crate) token: SecretToken,
    pub(crate) expires_at: DateTime<Utc>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum StartSsoError {
    #[error("single sign-on is off, or the business is unknown")]
    Off,
    #[error("too many log-ins")]
    TooMany { wait: TimeDelta },
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Counts against the limit of the caller's address, because anyone may call it.
pub(crate) async fn start(state: &State, start: SsoStart) -> Result<StartedSso, StartSsoError> {
    let subjects: Vec<_> =
        attempt_limits::of_address(state, &attempts::LOG_IN, &start.caller).into_iter().collect();
    let counted = match attempt_limits::admit(state, &subjects).await? {
        Admission::RetryAfter(wait) => return Err(StartSsoError::TooMany { wait }),
        Admission::Granted(counted) => counted,
    };
    let started = match start.subject {
        SsoSubject::Staff => match &state.single_sign_on {
            Some(sso) => begin(state, sso, &start).await,
            None => Err(StartSsoError::Off),
        },
        SsoSubject::Business(business) => at_business(state, business, &start).await,
    };
    // Strangers may guess businesses: those attempts stay counted.
    if started.as_ref().is_err_and(|error| !matches!(error, StartSsoError::Off)) {
        attempt_limits::cancel(state, &counted).await;
    }
    started
}

async fn at_business(
    state: &State,
    business: BusinessId,
    start: &SsoStart,
) -> Result<StartedSso, StartSsoError> {
    if !state.business_sso.is_available() {
        return Err(StartSsoError::Off);
    }
    let database = &state.unit.database;
    let found = database.read(async |conn| business_sso::find(conn, business).await).await;
    let found: Option<BusinessSso> = found?;
    let sso = found.ok_or(StartSsoError::Off)?;
    begin(state, &*state.business_sso.party(business, &sso.provider)?, start).await
}

async fn begin(state: &State, party: &RelyingParty, start: &SsoStart) -> Result<StartedSso, StartSsoError> {
    let (token, now) = (SecretToken::generate(&state.unit.entropy), state.unit.clock.now());
    let expires_at = now + SSO_LASTS;
    let secrets = SsoSecrets::of(&token, start.subject);
    let url = party.authorization_url(&secrets, start.purpose).await?;
    let provider = (start.subject, party.issuer());
    let (visit, times) = ((start.purpose, start.session.as_ref()), (now, expires_at));
    let database = &state.unit.database;
    let stored: Result<(), StoreError> =
        database.read(async |conn| sso_log_ins::insert(conn, &token, provider, visit, times).await).await;
    stored?;
    Ok(StartedSso { url, token, expires_at })
}
