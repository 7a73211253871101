//! The operator logs in to the console, and out of it. The token itself never stays in a browser: the cookie that takes
//! its place is a secret of its own, which ends after hours, or when the token is changed.

use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit, Mac};
use postgres::StoreError;
use settings::Secret;
use sha2::Sha256;

use crate::app::App;
use crate::domain::SessionToken;
use crate::store::operator_sessions;

/// How long a session lasts, used or not.
const AGE_MAX: TimeDelta = TimeDelta::hours(12);
/// Open at once; of more the oldest end. One operator has few consoles.
const SESSIONS_MAX: i64 = 1_000;

/// A session that was just opened.
pub(crate) struct OpenedByOperator {
    /// For the cookie.
    pub(crate) token: SessionToken,
    pub(crate) expires_at: DateTime<Utc>,
}

/// Opens a session for whoever has shown the operator's token. The one of `replaces` ends with it.
pub(crate) async fn open(app: &App, replaces: Option<SessionToken>) -> Result<OpenedByOperator, StoreError> {
    let token = SessionToken::generate(&app.entropy);
    let now = app.clock.now();
    let expires_at = now + AGE_MAX;
    let outcome: Result<(), StoreError> = app
        .database
        .transaction(async |conn| {
            if let Some(replaced) = &replaces {
                operator_sessions::remove(conn, digest(&app.operator_token, replaced)).await?;
            }
            let digest = digest(&app.operator_token, &token);
            operator_sessions::insert(conn, digest, now, expires_at, SESSIONS_MAX).await
        })
        .await;
    outcome?;
    tracing::info!("the operator logged in");
    Ok(OpenedByOperator { token, expires_at })
}

/// When the session of a cookie ends, if it has not ended.
pub(crate) async fn find(app: &App, token: &SessionToken) -> Result<Option<DateTime<Utc>>, StoreError> {
    let (digest, now) = (digest(&app.operator_token, token), app.clock.now());
    app.database.read(async |conn| operator_sessions::find(conn, digest, now).await).await
}

/// A session that has ended already is no fault.
pub(crate) async fn close(app: &App, token: &SessionToken) -> Result<(), StoreError> {
    let digest = digest(&app.operator_token, token);
    if app.database.read(async |conn| operator_sessions::remove(conn, digest).await).await? {
        tracing::info!("the operator logged out");
    }
    Ok(())
}

/// What the database knows a session by.
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
    fn another_operator_token_knows_no_session() {
        let token = SessionToken::generate(&Entropy::seeded(3));
        let before = digest(&Secret::new("the operator's token"), &token);
        assert_eq!(before, digest(&Secret::new("the operator's token"), &token));
        assert_ne!(before, digest(&Secret::new("the operator's next token"), &token));
    }
}
