//! Console sessions. Neither a password nor a token stays in a browser: the cookie has a secret of its own, which expires after
//! hours. A session of the configured token also ends when that token is no longer accepted.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::SessionId;
use identity::sessions::{self, SessionHolder};
use identity::{Realm, SessionToken};
use postgres::StoreError;
use settings::Secret;

use crate::account::commands::open_session::must_enrol;
use crate::account::commands::open_session::{self, OpenedSession, Proved};
use crate::account::commands::visitor::Browser;
use crate::audit::commands::audit::write_operator_audit;
use crate::audit::domain::{Action, AuditEvent, Author};
use crate::domain::{OperatorActor, OperatorRole};
use crate::state::State;
use crate::store::console_sessions::{self, StaffSession};
use crate::store::staff;

/// The holder of an open session, with the present role.
pub(crate) struct ConsoleSession {
    pub(crate) id: SessionId,
    pub(crate) holder: SessionHolder,
    pub(crate) actor: OperatorActor,
    pub(crate) role: OperatorRole,
    /// Even when in use.
    pub(crate) expires_at: DateTime<Utc>,
    /// Of the person.
    pub(crate) display_name: Option<String>,
    /// When the person last authenticated. With the configured token: when the session was opened.
    pub(crate) authenticated_at: DateTime<Utc>,
    /// Whether the role requires a second factor that the person does not have yet.
    pub(crate) must_enrol: bool,
    /// Whether the identity provider has authenticated the person. Its second factor counts, not ours.
    pub(crate) single_sign_on: bool,
}

/// Opens a session after the configured token was checked. Ends the browser's previous session.
pub(crate) async fn open(
    state: &State,
    token: &Secret,
    browser: &Browser,
    author: &Author,
) -> Result<OpenedSession, StoreError> {
    let (parts, event) = ((&state.unit.clock, &state.unit.entropy), AuditEvent::new(Action::SessionOpened));
    let holder = (SessionHolder::Configuration, None);
    let opened: Result<OpenedSession, StoreError> = state
        .unit
        .database
        .transaction(async |conn| {
            write_operator_audit(conn, parts, None, author, &event).await?;
            open_session::open(conn, state, holder, browser, Proved::ByToken(token)).await
        })
        .await;
    let opened = opened?;
    tracing::info!("operator logged in with the configured token");
    Ok(opened)
}

/// The session of a cookie; `None` if it has ended. A page that refreshes itself while nobody uses it is no use.
pub(crate) async fn find(
    state: &State,
    token: &SessionToken,
    is_attended: bool,
) -> Result<Option<ConsoleSession>, StoreError> {
    let now = state.unit.clock.now();
    let open = state.console_sessions.at(now);
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let Some(found) = console_sessions::of_person(conn, token, open).await? else {
                return of_configuration(conn, state, token, is_attended).await;
            };
            staff::mark_seen(conn, found.id, now).await?;
            if is_attended && open.is_due(found.last_seen_at) {
                sessions::mark_used(conn, found.session, None, now).await?;
            }
            of_person(conn, state, found).await.map(Some)
        })
        .await
}

async fn of_configuration(
    conn: &mut AsyncPgConnection,
    state: &State,
    token: &SessionToken,
    is_attended: bool,
) -> Result<Option<ConsoleSession>, StoreError> {
    let digests = state.operator_tokens.accepted().map(|accepted| token.digest_under(accepted));
    let open = state.console_sessions.at(state.unit.clock.now());
    let Some(found) = sessions::of_configuration(conn, digests, open).await? else { return Ok(None) };
    if is_attended && open.is_due(found.last_seen_at) {
        sessions::mark_used(conn, found.session, None, open.now).await?;
    }
    Ok(Some(ConsoleSession {
        id: found.session,
        holder: SessionHolder::Configuration,
        actor: OperatorActor::Configuration,
        role: OperatorRole::Administrator,
        expires_at: found.expires_at,
        display_name: None,
        authenticated_at: found.created_at,
        must_enrol: false,
        single_sign_on: false,
    }))
}

async fn of_person(
    conn: &mut AsyncPgConnection,
    state: &State,
    found: StaffSession,
) -> Result<ConsoleSession, StoreError> {
    let is_required = !found.single_sign_on && state.factor_policy.requires_staff(found.role);
    Ok(ConsoleSession {
        must_enrol: must_enrol(conn, found.id.into(), is_required).await?,
        id: found.session,
        holder: found.id.into(),
        actor: OperatorActor::Person { id: found.id, email: found.email },
        role: found.role,
        expires_at: found.expires_at,
        display_name: Some(found.name),
        authenticated_at: found.authenticated_at,
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
            open_session::end(conn, state, Realm::Staff, token).await?;
            write_operator_audit(conn, parts, None, author, &AuditEvent::new(Action::SessionClosed)).await
        })
        .await;
    closed?;
    tracing::info!("operator logged out");
    Ok(())
}
