//! Sends a browser to the identity provider.

use chrono::{DateTime, TimeDelta, Utc};
use postgres::StoreError;
use url::Url;

use super::attempt_limits::{self, Caller};
use crate::domain::{SSO_LASTS, SecretToken, SessionToken, SsoPurpose, SsoSecrets};
use crate::single_sign_on::{ProviderError, SingleSignOn};
use crate::state::State;
use crate::store::attempts::Admission;
use crate::store::sso_log_ins;

pub(crate) struct SsoStart {
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
    #[error("single sign-on is off")]
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
    let sso = state.single_sign_on.as_ref().ok_or(StartSsoError::Off)?;
    let subjects: Vec<_> =
        attempt_limits::of_address(state, &attempt_limits::LOG_IN, &start.caller).into_iter().collect();
    let counted = match attempt_limits::admit(state, &subjects).await? {
        Admission::RetryAfter(wait) => return Err(StartSsoError::TooMany { wait }),
        Admission::Granted(counted) => counted,
    };
    let started = begin(state, sso, &start).await;
    if started.is_err() {
        attempt_limits::cancel(state, &counted).await;
    }
    started
}

async fn begin(state: &State, sso: &SingleSignOn, start: &SsoStart) -> Result<StartedSso, StartSsoError> {
    let (token, now) = (SecretToken::generate(&state.unit.entropy), state.unit.clock.now());
    let expires_at = now + SSO_LASTS;
    let url = sso.authorization_url(&SsoSecrets::of(&token), start.purpose).await?;
    let (visit, times) = ((start.purpose, start.session.as_ref()), (now, expires_at));
    let database = &state.unit.database;
    let stored: Result<(), StoreError> =
        database.read(async |conn| sso_log_ins::insert(conn, &token, sso.issuer(), visit, times).await).await;
    stored?;
    Ok(StartedSso { url, token, expires_at })
}
