//! The holder of a session ends one of their sessions, or all except the current one; a user in all their businesses.

use diesel_async::AsyncPgConnection;
use domain::SessionId;
use identity::Account;
use identity::sessions::{self, SessionHolder};
use postgres::StoreError;

use crate::account::commands::own_account::OwnSession;
use crate::audit::domain::{Action, Actor, AuditEvent, Target, TargetKind};
use crate::state::State;
use crate::store::email_confirmations::{self, Changes};

/// False if the session is not theirs or has already ended.
pub(crate) async fn revoke_one(state: &State, own: &OwnSession, id: SessionId) -> Result<bool, StoreError> {
    let now = state.unit.clock.now();
    let event = AuditEvent::new(Action::SessionRevoked).on(Target::new(TargetKind::Session, id));
    let database = &state.unit.database;
    database
        .transaction(async |conn| {
            let ended = sessions::end(conn, own.holder, id, now).await?;
            if ended {
                remove_changes(conn, own, Changes::InSession(id)).await?;
                own.write_entry(conn, state, &event).await?;
            }
            Ok(ended)
        })
        .await
}

/// Returns how many sessions ended.
pub(crate) async fn revoke_others(state: &State, own: &OwnSession) -> Result<usize, StoreError> {
    let now = state.unit.clock.now();
    let event = AuditEvent::new(Action::SessionRevoked);
    let event = match &own.author.actor {
        Actor::User { id, email } => event.on(Target::new(TargetKind::User, id).labelled(email)),
        Actor::Operator(_) | Actor::System => event,
    };
    let database = &state.unit.database;
    database
        .transaction(async |conn| {
            let revoked = sessions::end_all(conn, own.holder, Some(own.id), now).await?;
            remove_changes(conn, own, Changes::ExceptInSession(own.id)).await?;
            if revoked > 0 {
                own.write_entry(conn, state, &event.clone().with("sessions", revoked)).await?;
            }
            Ok(revoked)
        })
        .await
}

/// Requested changes of a user's e-mail address end with the session that requested them.
async fn remove_changes(
    conn: &mut AsyncPgConnection,
    own: &OwnSession,
    changes: Changes<'_>,
) -> Result<(), StoreError> {
    match own.holder {
        SessionHolder::Account(Account::User(id)) => {
            email_confirmations::remove_changes(conn, id, changes).await
        }
        SessionHolder::Account(Account::Staff(_)) | SessionHolder::Configuration => Ok(()),
    }
}
