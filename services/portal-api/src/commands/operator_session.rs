//! The operator logs in to the console, and out of it. The operator's token never stays in a browser: the cookie has a
//! secret of its own, which expires after hours or when the token changes.

use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit, Mac};
use postgres::StoreError;
use settings::Secret;
use sha2::Sha256;

use crate::domain::SessionToken;
use crate::state::State;
use crate::store::operator_sessions;

/// A session ends after this time, even when in use.
const AGE_MAX: TimeDelta = TimeDelta::hours(12);
/// Open sessions. Opening more ends the oldest ones.
const SESSIONS_MAX: i64 = 1_000;

pub(crate) struct OpenedConsole {
    /// The value of the cookie.
    pub(crate) token: SessionToken,
    pub(crate) expires_at: DateTime<Utc>,
}

/// Opens a session after the operator's token was checked. Ends the session of `replaces`.
pub(crate) async fn open(state: &State, replaces: Option<SessionToken>) -> Result<OpenedConsole, StoreError> {
    let token = SessionToken::generate(&state.unit.entropy);
    let now = state.unit.clock.now();
    let expires_at = now + AGE_MAX;
    let outcome: Result<(), StoreError> = state
        .unit
        .database
        .transaction(async |conn| {
            if let Some(replaced) = &replaces {
                operator_sessions::remove(conn, digest(&state.operator_token, replaced)).await?;
            }
            let digest = digest(&state.operator_token, &token);
            operator_sessions::insert(conn, digest, now, expires_at, SESSIONS_MAX).await
        })
        .await;
    outcome?;
    tracing::info!("operator logged in");
    Ok(OpenedConsole { token, expires_at })
}

/// When the session of a cookie ends; `None` if it has ended.
pub(crate) async fn find(state: &State, token: &SessionToken) -> Result<Option<DateTime<Utc>>, StoreError> {
    let (digest, now) = (digest(&state.operator_token, token), state.unit.clock.now());
    state.unit.database.read(async |conn| operator_sessions::find(conn, digest, now).await).await
}

/// Ends the session. Does nothing if it has already ended.
pub(crate) async fn close(state: &State, token: &SessionToken) -> Result<(), StoreError> {
    let digest = digest(&state.operator_token, token);
    if state.unit.database.read(async |conn| operator_sessions::remove(conn, digest).await).await? {
        tracing::info!("operator logged out");
    }
    Ok(())
}

/// The stored form of a token. Depends on the operator's token, so that changing that ends all sessions.
fn digest(operator_token: &Secret, token: &SessionToken) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(operator_token.expose().as_bytes())
        .unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"));
    mac.update(token.expose().as_bytes());
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use domain::Entropy;

    use super::*;

    #[test]
    fn a_new_operator_token_ends_all_sessions() {
        let token = SessionToken::generate(&Entropy::seeded(3));
        let before = digest(&Secret::new("the operator's token"), &token);
        assert_eq!(before, digest(&Secret::new("the operator's token"), &token));
        assert_ne!(before, digest(&Secret::new("the operator's next token"), &token));
    }
}
