//! Log-ins with a right password that wait for the second factor.

use identity::SecretToken;
use identity::second_factors::FactorError;
use identity::second_factors::log_in_challenges::Challenge;
use postgres::StoreError;

use crate::single_sign_on::commands::sso_required::SsoRequiredError;
use crate::state::State;

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

/// A challenge with tries left. Counts none.
pub(crate) async fn find(state: &State, token: &SecretToken) -> Result<Challenge, ChallengeError> {
    let database = &state.unit.database;
    let found = database.read(async |conn| state.factors.challenge(conn, token).await).await;
    let found: Option<Challenge> = found?;
    found.ok_or(ChallengeError::Ended)
}

/// Counts a try of the challenge in a transaction of its own.
pub(crate) async fn take_try(state: &State, token: &SecretToken) -> Result<Challenge, ChallengeError> {
    let database = &state.unit.database;
    let found = database.read(async |conn| state.factors.take_try(conn, token).await).await;
    let found: Option<Challenge> = found?;
    found.ok_or(ChallengeError::Ended)
}
