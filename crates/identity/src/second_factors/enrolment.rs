//! Sets up an authenticator app, and replaces the recovery codes.

use chrono::TimeDelta;
use diesel_async::AsyncPgConnection;

use super::codes::{FactorSecret, RecoveryCode};
use super::factors::{FactorError, Factors};
use crate::accounts::Account;
use crate::second_factors;

/// An enrolment must be confirmed within this time.
const ENROLMENT_LASTS: TimeDelta = TimeDelta::hours(1);

impl Factors {
    /// Begins an enrolment, and replaces an unfinished one. Nothing changes for log-ins until [`Self::confirm_enrolment`].
    ///
    /// # Errors
    /// When the account has a second factor.
    pub async fn begin_enrolment(
        &self,
        conn: &mut AsyncPgConnection,
        account: Account,
    ) -> Result<FactorSecret, FactorError> {
        let secret = FactorSecret::generate(&self.entropy);
        let sealed = self.secrets.seal(&account.id(), &secret, &self.entropy)?;
        let begun = second_factors::begin(conn, account, &sealed, self.clock.now()).await?;
        if begun { Ok(secret) } else { Err(FactorError::AlreadyEnrolled) }
    }

    /// Completes the enrolment with the first code of the app, and returns the recovery codes.
    ///
    /// # Errors
    /// When no enrolment is open, or the code is wrong.
    pub async fn confirm_enrolment(
        &self,
        conn: &mut AsyncPgConnection,
        account: Account,
        code: &str,
    ) -> Result<Vec<RecoveryCode>, FactorError> {
        let now = self.clock.now();
        let factor = second_factors::find(conn, account).await?.ok_or(FactorError::NotStarted)?;
        if factor.is_confirmed {
            return Err(FactorError::AlreadyEnrolled);
        }
        if now >= factor.started_at + ENROLMENT_LASTS {
            return Err(FactorError::NotStarted);
        }
        let secret = self.secrets.open(&account.id(), &factor.sealed_secret)?;
        let step = secret.step_of(code, now).ok_or(FactorError::WrongCode)?;
        if !second_factors::confirm(conn, account, step, &factor.sealed_secret, now).await? {
            return Err(FactorError::NotStarted);
        }
        let codes = RecoveryCode::generate_set(&self.entropy);
        second_factors::replace_recovery_codes(conn, account, &codes).await?;
        Ok(codes)
    }

    /// Replaces all recovery codes, used and unused ones.
    ///
    /// # Errors
    /// When the account has no second factor.
    pub async fn replace_recovery_codes(
        &self,
        conn: &mut AsyncPgConnection,
        account: Account,
    ) -> Result<Vec<RecoveryCode>, FactorError> {
        if !second_factors::lock(conn, account).await? {
            return Err(FactorError::NotEnrolled);
        }
        let codes = RecoveryCode::generate_set(&self.entropy);
        second_factors::replace_recovery_codes(conn, account, &codes).await?;
        Ok(codes)
    }
}
