//! Log-ins with a right password that wait for the second factor. They open no session and grant nothing.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use postgres::StoreError;
use sha2::{Digest, Sha256};

use super::codes::{CHALLENGE_LASTS, CHALLENGE_TRIES};
use super::factors::Factors;
use super::log_in_challenges::{self, Challenge};
use crate::accounts::Account;
use crate::secrets::SecretToken;
use crate::{passkeys, second_factors};

pub struct OpenedChallenge {
    /// The value of the cookie.
    pub token: SecretToken,
    pub expires_at: DateTime<Utc>,
    /// The origin whose pages may use a passkey instead of the code. `None` if the account has no passkey there.
    pub passkey_origin: Option<String>,
}

impl Factors {
    /// Opens a challenge after the password was checked. `None` if the account has no second factor.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn open_challenge(
        &self,
        conn: &mut AsyncPgConnection,
        account: Account,
        password_hash: &str,
    ) -> Result<Option<OpenedChallenge>, StoreError> {
        if !second_factors::is_enrolled(conn, account).await? {
            return Ok(None);
        }
        let now = self.clock.now();
        let (token, expires_at) = (SecretToken::generate(&self.entropy), now + CHALLENGE_LASTS);
        log_in_challenges::insert(conn, account, &token, digest(password_hash), (now, expires_at)).await?;
        let has_passkeys = passkeys::count(conn, account).await? > 0;
        let passkey_origin = self.passkeys.origin(account).filter(|_| has_passkeys).map(str::to_owned);
        Ok(Some(OpenedChallenge { token, expires_at, passkey_origin }))
    }

    /// A challenge with tries left. Counts none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn challenge(
        &self,
        conn: &mut AsyncPgConnection,
        token: &SecretToken,
    ) -> Result<Option<Challenge>, StoreError> {
        log_in_challenges::find(conn, token, CHALLENGE_TRIES, self.clock.now()).await
    }

    /// As [`Self::challenge`]. Counts a try, to be committed before its answer is checked.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn take_try(
        &self,
        conn: &mut AsyncPgConnection,
        token: &SecretToken,
    ) -> Result<Option<Challenge>, StoreError> {
        log_in_challenges::take_try(conn, token, CHALLENGE_TRIES, self.clock.now()).await
    }
}

impl Challenge {
    /// Whether the password has not changed since the challenge was opened. Neither digest is chosen by the caller, so that the
    /// time of the comparison reveals nothing.
    pub fn is_for(&self, password_hash: &str) -> bool {
        self.password_digest == digest(password_hash)
    }
}

fn digest(password_hash: &str) -> [u8; 32] {
    Sha256::digest(password_hash).into()
}
