//! A user ends one of their sessions, or all except the current one, in all their businesses.

use domain::SessionId;
use postgres::StoreError;

use super::audit::write_audit;
use crate::domain::{Action, AuditEvent, Author, Session, Target, TargetKind};
use crate::state::State;
use crate::store::email_confirmations::{self, Changes};
use crate::store::sessions;

/// False if the session is not theirs or has already ended.
pub(crate) async fn revoke_session(
    state: &State,
    session: &Session,
    author: &Author,
    id: SessionId,
) -> Result<bool, StoreError> {
    let now = state.unit.clock.now();
    let account = session.account;
    let event = AuditEvent::new(Action::SessionRevoked).on(Target::new(TargetKind::Session, id));
    let database = &state.unit.database;
    database
        .transaction(async |conn| {
            let ended = sessions::end(conn, account.into(), id, now).await?;
            if ended {
                email_confirmations::remove_changes(conn, account, Changes::InSession(id)).await?;
                write_audit(conn, state, session.business, author, &event).await?;
            }
            Ok(ended)
        })
        .await
}

/// Returns how many sessions ended.
pub(crate) async fn revoke_others(
    state: &State,
    session: &Session,
    author: &Author,
) -> Result<usize, StoreError> {
    let now = state.unit.clock.now();
    let account = session.account;
    let database = &state.unit.database;
    database
        .transaction(async |conn| {
            let revoked = sessions::end_all(conn, account.into(), Some(session.id), now).await?;
            let others = Changes::ExceptInSession(session.id);
            email_confirmations::remove_changes(conn, account, others).await?;
            if revoked > 0 {
                let target = Target::new(TargetKind::User, session.user).labelled(&session.email);
                let event = AuditEvent::new(Action::SessionRevoked).on(target).with("sessions", revoked);
                write_audit(conn, state, session.business, author, &event).await?;
            }
            Ok(revoked)
        })
        .await
}
