//! The holder of a console session ends one of their sessions, or all except the current one.

use domain::SessionId;
use postgres::StoreError;

use super::audit::write_operator_audit;
use super::operator_session::ConsoleSession;
use crate::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::state::State;
use crate::store::sessions;

/// False if the session is not theirs or has already ended.
pub(crate) async fn end_one(
    state: &State,
    session: &ConsoleSession,
    author: &Author,
    id: SessionId,
) -> Result<bool, StoreError> {
    let now = state.unit.clock.now();
    let parts = (&state.unit.clock, &state.unit.entropy);
    let event = AuditEvent::new(Action::SessionRevoked).on(Target::new(TargetKind::Session, id));
    let database = &state.unit.database;
    database
        .transaction(async |conn| {
            let ended = sessions::end(conn, session.holder, id, now).await?;
            if ended {
                write_operator_audit(conn, parts, None, author, &event).await?;
            }
            Ok(ended)
        })
        .await
}

/// Returns how many sessions ended.
pub(crate) async fn end_others(
    state: &State,
    session: &ConsoleSession,
    author: &Author,
) -> Result<usize, StoreError> {
    let now = state.unit.clock.now();
    let parts = (&state.unit.clock, &state.unit.entropy);
    let database = &state.unit.database;
    database
        .transaction(async |conn| {
            let ended = sessions::end_all(conn, session.holder, Some(session.id), now).await?;
            if ended > 0 {
                let event = AuditEvent::new(Action::SessionRevoked).with("sessions", ended);
                write_operator_audit(conn, parts, None, author, &event).await?;
            }
            Ok(ended)
        })
        .await
}
