//! A passkey instead of a code: the challenge, and the check of its signature.

use identity::passkeys::{CeremonyKey, CeremonyPurpose};
use identity::second_factors::{CheckedAnswer, FactorAnswer, FactorError};
use identity::{Account, Realm, SecretToken};
use serde_json::Value;

use crate::account::commands::challenge::{self, ChallengeError};
use crate::state::State;

/// The options for the browser of a person who has entered the right password.
pub(crate) async fn start_log_in(
    state: &State,
    realm: Realm,
    token: &SecretToken,
) -> Result<Value, ChallengeError> {
    let account = challenge::find(state, token).await?.account;
    if account.realm() != realm {
        return Err(ChallengeError::Ended);
    }
    Ok(start(state, account, CeremonyKey::new(CeremonyPurpose::LogIn, token.digest())).await?)
}

/// The options for the browser of a logged-in person. The challenge is used once, and replaces the one before.
pub(crate) async fn start(state: &State, account: Account, key: CeremonyKey) -> Result<Value, FactorError> {
    let database = &state.unit.database;
    database.transaction(async |conn| state.factors.ask_for_passkey(conn, account, key).await).await
}

/// Uses up the challenge, whatever follows, and checks the signature.
pub(crate) async fn check<'a>(
    state: &State,
    account: Account,
    answer: &'a FactorAnswer,
    key: CeremonyKey,
) -> Result<CheckedAnswer<'a>, FactorError> {
    state.unit.database.read(async |conn| state.factors.check(conn, account, answer, key).await).await
}
