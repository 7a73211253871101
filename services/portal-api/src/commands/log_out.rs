//! A user logs out.

use domain::RequestId;
use postgres::StoreError;

use super::audit::write_audit;
use crate::domain::{Action, AuditEvent, Author, CallerAddress, Session, SessionToken, Target, TargetKind};
use crate::state::State;
use crate::store::sessions;

/// Ends the session. Does nothing if it has already ended.
pub(crate) async fn log_out(
    state: &State,
    token: &SessionToken,
    (request, address): (Option<RequestId>, Option<CallerAddress>),
) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    let ended: Result<Option<Session>, StoreError> = state
        .unit
        .database
        .transaction(async |conn| {
            let Some(session) = sessions::revoke(conn, token, state.user_sessions.at(now)).await? else {
                return Ok(None);
            };
            let target = Target::new(TargetKind::Session, session.id);
            let event = AuditEvent::new(Action::SessionClosed).on(target);
            let author = Author::of(&session, request).at(address.clone());
            write_audit(conn, state, session.business, &author, &event).await?;
            Ok(Some(session))
        })
        .await;
    if let Some(session) = ended? {
        tracing::info!(session_id = %session.id, "user logged out");
    }
    Ok(())
}
