//! Proves a second factor: a code or a passkey is accepted once.

use diesel_async::AsyncPgConnection;
use serde_json::Value;

use super::codes::FactorCode;
use super::factors::{FactorError, Factors};
use crate::accounts::Account;
use crate::passkeys::{Assertion, CeremonyKey, PasskeyError, VerifiedUse, is_later_use, passkey_ceremonies};
use crate::{passkeys, second_factors};

/// What a person sends to prove the second factor.
pub enum FactorAnswer {
    Code(FactorCode),
    Passkey(Box<Assertion>),
}

/// An answer that is to be accepted in the transaction of its use.
pub enum CheckedAnswer<'a> {
    Code(&'a FactorCode),
    /// Its signature is valid, and its challenge used up.
    Passkey(Box<VerifiedUse>),
}

/// How the second factor was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    App,
    RecoveryCode,
    Passkey,
}

impl Proof {
    /// As written to logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::RecoveryCode => "recovery_code",
            Self::Passkey => "passkey",
        }
    }
}

impl Factors {
    /// Uses up the challenge of a passkey, whatever follows, and checks its signature. To be committed before [`Self::accept`].
    ///
    /// # Errors
    /// When the challenge has ended, or the signature is refused.
    pub async fn check<'a>(
        &self,
        conn: &mut AsyncPgConnection,
        account: Account,
        answer: &'a FactorAnswer,
        key: CeremonyKey,
    ) -> Result<CheckedAnswer<'a>, FactorError> {
        let assertion = match answer {
            FactorAnswer::Code(code) => return Ok(CheckedAnswer::Code(code)),
            FactorAnswer::Passkey(assertion) => assertion,
        };
        let begun = self.end_ceremony(conn, account, key).await?;
        let verified = self.passkeys.finish_authentication(account, assertion, begun);
        if let Err(PasskeyError::Refused(reason)) = &verified {
            tracing::info!(account_id = %account, %reason, "passkey refused");
        }
        Ok(CheckedAnswer::Passkey(Box::new(verified?)))
    }

    /// Ends a ceremony, and returns its state.
    pub(crate) async fn end_ceremony(
        &self,
        conn: &mut AsyncPgConnection,
        account: Account,
        key: CeremonyKey,
    ) -> Result<Value, FactorError> {
        let begun = passkey_ceremonies::take(conn, key, account, self.clock.now()).await?;
        begun.ok_or(FactorError::CeremonyEnded)
    }

    /// Accepts an answer of the account once, within the transaction of its use.
    ///
    /// # Errors
    /// When the code or the passkey is wrong, or was used before.
    pub async fn accept(
        &self,
        conn: &mut AsyncPgConnection,
        account: Account,
        answer: &CheckedAnswer<'_>,
    ) -> Result<Proof, FactorError> {
        match answer {
            CheckedAnswer::Code(code) => self.accept_code(conn, account, code).await,
            CheckedAnswer::Passkey(used) => self.accept_passkey(conn, account, used).await,
        }
    }

    async fn accept_code(
        &self,
        conn: &mut AsyncPgConnection,
        account: Account,
        code: &FactorCode,
    ) -> Result<Proof, FactorError> {
        let factor = second_factors::find(conn, account).await?.filter(|factor| factor.is_confirmed);
        let factor = factor.ok_or(FactorError::WrongCode)?;
        let code = match code {
            FactorCode::App(code) => code,
            FactorCode::Recovery(code) => {
                let is_right = second_factors::consume_recovery_code(conn, account, code).await?;
                return is_right.then_some(Proof::RecoveryCode).ok_or(FactorError::WrongCode);
            }
        };
        let secret = self.secrets.open(&account.id(), &factor.sealed_secret)?;
        let step = secret.step_of(code, self.clock.now()).ok_or(FactorError::WrongCode)?;
        // With the present key, also if the previous one encrypted it.
        let sealed = self.secrets.seal(&account.id(), &secret, &self.entropy)?;
        let is_fresh = second_factors::accept_step(conn, account, step, &sealed).await?;
        is_fresh.then_some(Proof::App).ok_or(FactorError::WrongCode)
    }

    /// The passkey may have been removed since the challenge, or a copy of it may have been used.
    async fn accept_passkey(
        &self,
        conn: &mut AsyncPgConnection,
        account: Account,
        used: &VerifiedUse,
    ) -> Result<Proof, FactorError> {
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
        let of = (account, used.credential_id());
        passkeys::record_use(conn, of, (&updated, used.sign_count()), self.clock.now()).await?;
        Ok(Proof::Passkey)
    }
}
