//! A person asks for, adds and removes passkeys of their account. The authenticator app and the recovery codes stay.

use diesel_async::AsyncPgConnection;
use domain::PasskeyId;
use serde_json::Value;

use super::passkey::{CEREMONY_LASTS, CeremonyKey, PASSKEYS_MAX, Passkey};
use super::web_authn::{Attestation, PasskeyError, VerifiedPasskey};
use super::{NewPasskey, passkey_ceremonies};
use crate::accounts::Account;
use crate::second_factors::{FactorError, Factors};
use crate::{passkeys, second_factors};

impl Factors {
    /// The options for the browser that is to use a passkey. The challenge is used once, and replaces the one before.
    ///
    /// # Errors
    /// When the account has no passkey, or passkeys are unavailable.
    pub async fn ask_for_passkey(
        &self,
        conn: &mut AsyncPgConnection,
        account: Account,
        key: CeremonyKey,
    ) -> Result<Value, FactorError> {
        self.passkeys.origin(account).ok_or(FactorError::PasskeysUnavailable)?;
        // Locked, so that a removal of the factor waits.
        if !second_factors::lock(conn, account).await? {
            return Err(FactorError::UnknownPasskey);
        }
        let credentials = passkeys::credentials(conn, account).await?;
        if credentials.is_empty() {
            return Err(FactorError::UnknownPasskey);
        }
        let started = self.passkeys.start_authentication(account, credentials)?;
        let expires_at = self.clock.now() + CEREMONY_LASTS;
        passkey_ceremonies::begin(conn, key, account, &started.state, expires_at).await?;
        Ok(started.options)
    }

    /// The options for the browser that is to make a passkey. Nothing changes until [`Self::add_passkey`].
    ///
    /// # Errors
    /// When the account has no authenticator app or too many passkeys, or passkeys are unavailable.
    pub async fn begin_passkey(
        &self,
        conn: &mut AsyncPgConnection,
        (account, email): (Account, &str),
        key: CeremonyKey,
    ) -> Result<Value, FactorError> {
        self.passkeys.origin(account).ok_or(FactorError::PasskeysUnavailable)?;
        self.require_room(conn, account).await?;
        let existing = passkeys::credentials(conn, account).await?;
        let started = self.passkeys.start_registration(account, email, existing)?;
        let expires_at = self.clock.now() + CEREMONY_LASTS;
        passkey_ceremonies::begin(conn, key, account, &started.state, expires_at).await?;
        Ok(started.options)
    }

    /// Uses up the challenge, and checks the answer of the authenticator. To be committed before [`Self::add_passkey`].
    ///
    /// # Errors
    /// When the challenge has ended, or the answer is refused.
    pub async fn verify_passkey(
        &self,
        conn: &mut AsyncPgConnection,
        account: Account,
        attestation: &Attestation,
        key: CeremonyKey,
    ) -> Result<VerifiedPasskey, FactorError> {
        let begun = self.end_ceremony(conn, account, key).await?;
        let verified = self.passkeys.finish_registration(account, attestation, begun);
        if let Err(PasskeyError::Refused(reason)) = &verified {
            tracing::info!(account_id = %account, %reason, "new passkey refused");
        }
        Ok(verified?)
    }

    /// # Errors
    /// When the account has no authenticator app or too many passkeys, or the passkey exists.
    pub async fn add_passkey(
        &self,
        conn: &mut AsyncPgConnection,
        account: Account,
        (name, verified): (&str, &VerifiedPasskey),
    ) -> Result<Passkey, FactorError> {
        self.require_room(conn, account).await?;
        let (id, now) = (PasskeyId::generate(&self.clock, &self.entropy), self.clock.now());
        let new =
            NewPasskey { id, name, credential_id: &verified.credential_id, credential: &verified.credential };
        if !passkeys::insert(conn, account, &new, now).await? {
            return Err(FactorError::PasskeyExists);
        }
        Ok(Passkey { id, name: name.to_owned(), created_at: now, last_used_at: None })
    }

    /// Locks the factor, so that simultaneous calls respect the limit.
    async fn require_room(&self, conn: &mut AsyncPgConnection, account: Account) -> Result<(), FactorError> {
        if !second_factors::lock(conn, account).await? {
            return Err(FactorError::NotEnrolled);
        }
        if passkeys::count(conn, account).await? >= PASSKEYS_MAX {
            return Err(FactorError::TooManyPasskeys);
        }
        Ok(())
    }
}
