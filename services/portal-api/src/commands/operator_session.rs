//! Console sessions. Neither a password nor a token stays in a browser: the cookie has a secret of its own, which expires after
//! hours. The sessions of the configured token also end when that token changes.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::StaffId;
use hmac::{Hmac, KeyInit, Mac};
use postgres::StoreError;
use settings::Secret;
use sha2::Sha256;

use super::audit::write_operator_audit;
use crate::domain::{Account, Action, AuditEvent, Author, OperatorActor, OperatorRole, SessionToken};
use crate::state::State;
use crate::store::staff_sessions::{self, StaffSession};
use crate::store::{operator_sessions, second_factors, staff};

/// A session ends after this time, even when in use.
const AGE_MAX: TimeDelta = TimeDelta::hours(12);
/// Open sessions of the configured token. Opening more ends the oldest ones.
const SESSIONS_MAX: i64 = 1_000;

pub(crate) struct OpenedConsole {
    /// The value of the cookie.
    pub(crate) token: SessionToken,
    pub(crate) expires_at: DateTime<Utc>,
}

/// The holder of an open session, with the present role.
pub(crate) struct ConsoleSession {
    pub(crate) actor: OperatorActor,
    pub(crate) role: OperatorRole,
    pub(crate) expires_at: DateTime<Utc>,
    /// When the person last authenticated. `None` for the configured token, which has no password.
    pub(crate) authenticated_at: Option<DateTime<Utc>>,
    /// Whether the role requires a second factor that the person does not have yet.
    pub(crate) must_enrol: bool,
    /// Whether the identity provider has authenticated the person. Its second factor counts, not ours.
    pub(crate) single_sign_on: bool,
}

/// Opens a session after the configured token was checked. Ends the session of `replaces`.
pub(crate) async fn open(
    state: &State,
    replaces: Option<SessionToken>,
    author: &Author,
) -> Result<OpenedConsole, StoreError> {
    let database = &state.unit.database;
    let opened: Result<OpenedConsole, StoreError> = database
        .transaction(async |conn| insert_configured(conn, state, replaces.as_ref(), author).await)
        .await;
    let opened = opened?;
    tracing::info!("operator logged in with the configured token");
    Ok(opened)
}

/// Opens a session of a person within the caller's transaction.
pub(super) async fn insert(
    conn: &mut AsyncPgConnection,
    state: &State,
    person: StaffId,
    replaces: Option<&SessionToken>,
    author: &Author,
    event: &AuditEvent,
) -> Result<OpenedConsole, StoreError> {
    let opened = begin(conn, state, replaces, author, event).await?;
    let now = state.unit.clock.now();
    staff_sessions::insert(conn, person, &opened.token, (now, opened.expires_at)).await?;
    Ok(opened)
}

/// In the table of the previous release, so that its instances know the session too.
async fn insert_configured(
    conn: &mut AsyncPgConnection,
    state: &State,
    replaces: Option<&SessionToken>,
    author: &Author,
) -> Result<OpenedConsole, StoreError> {
    let event = AuditEvent::new(Action::SessionOpened);
    let opened = begin(conn, state, replaces, author, &event).await?;
    let (digest, now) = (digest(&state.operator_token, &opened.token), state.unit.clock.now());
    operator_sessions::insert(conn, digest, now, opened.expires_at, SESSIONS_MAX).await?;
    Ok(opened)
}

async fn begin(
    conn: &mut AsyncPgConnection,
    state: &State,
    replaces: Option<&SessionToken>,
    author: &Author,
    event: &AuditEvent,
) -> Result<OpenedConsole, StoreError> {
    if let Some(replaced) = replaces {
        remove(conn, state, replaced).await?;
    }
    let parts = (&state.unit.clock, &state.unit.entropy);
    write_operator_audit(conn, parts, None, author, event).await?;
    let token = SessionToken::generate(&state.unit.entropy);
    Ok(OpenedConsole { token, expires_at: state.unit.clock.now() + AGE_MAX })
}

/// The session of a cookie; `None` if it has ended.
pub(crate) async fn find(state: &State, token: &SessionToken) -> Result<Option<ConsoleSession>, StoreError> {
    let (digest, now) = (digest(&state.operator_token, token), state.unit.clock.now());
    let database = &state.unit.database;
    database
        .read(async |conn| {
            if let Some(found) = staff_sessions::find(conn, token, now).await? {
                staff::mark_seen(conn, found.id, now).await?;
                return of_person(conn, state, found).await.map(Some);
            }
            let expires_at = operator_sessions::find(conn, digest, now).await?;
            Ok(expires_at.map(|expires_at| ConsoleSession {
                actor: OperatorActor::Configuration,
                role: OperatorRole::Administrator,
                expires_at,
                authenticated_at: None,
                must_enrol: false,
                single_sign_on: false,
            }))
        })
        .await
}

async fn of_person(
    conn: &mut AsyncPgConnection,
    state: &State,
    found: StaffSession,
) -> Result<ConsoleSession, StoreError> {
    let is_required = !found.single_sign_on && state.second_factors.requires_staff(found.role);
    Ok(ConsoleSession {
        must_enrol: is_required && !second_factors::is_enrolled(conn, Account::Staff(found.id)).await?,
        actor: OperatorActor::Person { id: found.id, email: found.email },
        role: found.role,
        expires_at: found.expires_at,
        authenticated_at: Some(found.authenticated_at),
        single_sign_on: found.single_sign_on,
    })
}

/// Ends the author's session.
pub(crate) async fn close(state: &State, token: &SessionToken, author: &Author) -> Result<(), StoreError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let closed: Result<(), StoreError> = state
        .unit
        .database
        .transaction(async |conn| {
            remove(conn, state, token).await?;
            write_operator_audit(conn, parts, None, author, &AuditEvent::new(Action::SessionClosed)).await
        })
        .await;
    closed?;
    tracing::info!("operator logged out");
    Ok(())
}

async fn remove(conn: &mut AsyncPgConnection, state: &State, token: &SessionToken) -> Result<(), StoreError> {
    staff_sessions::remove(conn, token).await?;
    operator_sessions::remove(conn, digest(&state.operator_token, token)).await?;
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
