//! A passkey instead of a code: the challenge, and the check of its signature.

use diesel_async::AsyncPgConnection;
use identity::passkeys::{
    self, Assertion, CEREMONY_LASTS, CeremonyKey, CeremonyPurpose, PasskeyError, VerifiedUse, is_later_use,
    passkey_ceremonies,
};
use identity::second_factors::{self, FactorCode};
use identity::{Account, Realm, SecretToken};
use serde_json::Value;

use crate::commands::challenge::{self, ChallengeError};
use crate::commands::factor_code::FactorError;
use crate::state::State;

/// What a person sends to prove the second factor.
pub(crate) enum FactorAnswer {
    Code(FactorCode),
    Passkey(Box<Assertion>),
}

/// An answer that is to be accepted in the transaction of its use.
pub(super) enum CheckedAnswer<'a> {
    Code(&'a FactorCode),
    /// Its signature is valid, and its challenge used up.
    Passkey(Box<VerifiedUse>),
}

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
    let expires_at = state.unit.clock.now() + CEREMONY_LASTS;
    state
        .unit
        .database
        .transaction(async |conn| {
            state.passkeys.origin(account).ok_or(FactorError::PasskeysUnavailable)?;
            // Locked, so that a removal of the factor waits.
            if !second_factors::lock(conn, account).await? {
                return Err(FactorError::UnknownPasskey);
            }
            let credentials = passkeys::credentials(conn, account).await?;
            if credentials.is_empty() {
                return Err(FactorError::UnknownPasskey);
            }
            let started = state.passkeys.start_authentication(account, credentials)?;
            passkey_ceremonies::begin(conn, key, account, &started.state, expires_at).await?;
            Ok(started.options)
        })
        .await
}

/// Uses up the challenge, whatever follows, and checks the signature.
pub(super) async fn check<'a>(
    state: &State,
    account: Account,
    answer: &'a FactorAnswer,
    key: CeremonyKey,
) -> Result<CheckedAnswer<'a>, FactorError> {
    let assertion = match answer {
        FactorAnswer::Code(code) => return Ok(CheckedAnswer::Code(code)),
        FactorAnswer::Passkey(assertion) => assertion,
    };
    let begun = take(state, account, key).await?;
    let verified = state.passkeys.finish_authentication(account, assertion, begun);
    if let Err(PasskeyError::Refused(reason)) = &verified {
        tracing::info!(account_id = %account.id(), %reason, "passkey refused");
    }
    Ok(CheckedAnswer::Passkey(Box::new(verified?)))
}

/// Ends a ceremony in a transaction of its own, and returns its state.
pub(super) async fn take(state: &State, account: Account, key: CeremonyKey) -> Result<Value, FactorError> {
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    let begun = database.read(async |conn| passkey_ceremonies::take(conn, key, account, now).await).await;
    let begun: Option<Value> = begun?;
    begun.ok_or(FactorError::CeremonyEnded)
}

/// The passkey may have been removed since the challenge, or a copy of it may have been used.
pub(super) async fn accept(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: Account,
    used: &VerifiedUse,
) -> Result<(), FactorError> {
    // Before the passkey, as removals do.
    if !second_factors::lock(conn, account).await? {
        return Err(FactorError::WrongPasskey);
    }
    let stored = passkeys::lock(conn, account, used.credential_id()).await?;
    let (credential, sign_count) = stored.ok_or(FactorError::WrongPasskey)?;
    if !is_later_use(sign_count, used.sign_count()) {
        return Err(FactorError::WrongPasskey);
    }
    let updated = used.update(credential)?;
    let (of, now) = ((account, used.credential_id()), state.unit.clock.now());
    Ok(passkeys::record_use(conn, of, (&updated, used.sign_count()), now).await?)
}
