//! Log-ins with a right password that wait for the second factor. They open no session and grant nothing.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use identity::second_factors::log_in_challenges::{self, Challenge};
use identity::second_factors::{self, CHALLENGE_LASTS, CHALLENGE_TRIES};
use identity::{Account, SecretToken, passkeys};
use postgres::StoreError;
use sha2::{Digest, Sha256};

use crate::commands::factor_code::FactorError;
use crate::commands::sso_required::SsoRequiredError;
use crate::state::State;

pub(crate) struct OpenedChallenge {
    /// The value of the cookie.
    pub(crate) token: SecretToken,
    pub(crate) expires_at: DateTime<Utc>,
    /// The origin whose pages may use a passkey instead of the code. `None` if the account has no passkey there.
    pub(crate) passkey_origin: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChallengeError {
    #[error("the log-in has expired, was completed, or has no tries left")]
    Ended,
    #[error(transparent)]
    Sso(#[from] SsoRequiredError),
    #[error(transparent)]
    Factor(#[from] FactorError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Opens a challenge after the password was checked. `None` if the account has no second factor.
pub(super) async fn open(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: Account,
    password_hash: &str,
) -> Result<Option<OpenedChallenge>, StoreError> {
    if !second_factors::is_enrolled(conn, account).await? {
        return Ok(None);
    }
    let now = state.unit.clock.now();
    let (token, expires_at) = (SecretToken::generate(&state.unit.entropy), now + CHALLENGE_LASTS);
    log_in_challenges::insert(conn, account, &token, digest(password_hash), (now, expires_at)).await?;
    let has_passkeys = passkeys::count(conn, account).await? > 0;
    let passkey_origin = state.passkeys.origin(account).filter(|_| has_passkeys).map(str::to_owned);
    Ok(Some(OpenedChallenge { token, expires_at, passkey_origin }))
}

/// A challenge with tries left. Counts none.
pub(super) async fn find(state: &State, token: &SecretToken) -> Result<Challenge, ChallengeError> {
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    let found =
        database.read(async |conn| log_in_challenges::find(conn, token, CHALLENGE_TRIES, now).await).await;
    let found: Option<Challenge> = found?;
    found.ok_or(ChallengeError::Ended)
}

/// Counts a try of the challenge in a transaction of its own.
pub(super) async fn take_try(state: &State, token: &SecretToken) -> Result<Challenge, ChallengeError> {
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    let found = database
        .read(async |conn| log_in_challenges::take_try(conn, token, CHALLENGE_TRIES, now).await)
        .await;
    let found: Option<Challenge> = found?;
    found.ok_or(ChallengeError::Ended)
}

/// Whether the password has not changed since the challenge was opened. Neither digest is chosen by the caller, so that the
/// time of the comparison reveals nothing.
pub(super) fn is_for(challenge: &Challenge, password_hash: &str) -> bool {
    challenge.password_digest == digest(password_hash)
}

fn digest(password_hash: &str) -> [u8; 32] {
    Sha256::digest(password_hash).into()
}
