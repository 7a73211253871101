//! Writes the audit log: in the transaction of a change of this service, or right after a change of another service.

use diesel_async::AsyncPgConnection;
use domain::{AuditEntryId, BusinessId};
use postgres::StoreError;

use crate::domain::{AuditEvent, Author};
use crate::state::State;
use crate::store::audit_log::{self, NewEntry};

/// Writes an entry within the caller's transaction.
pub(super) async fn write_audit(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
    author: &Author,
    event: &AuditEvent,
) -> Result<(), StoreError> {
    if event.once && audit_log::has(conn, business, event).await? {
        return Ok(());
    }
    let id = AuditEntryId::generate(&state.unit.clock, &state.unit.entropy);
    let entry = NewEntry { id, at: state.unit.clock.now(), author, event };
    audit_log::insert(conn, business, &entry).await
}

/// Writes an entry about a completed change. A failure is only logged, because the change cannot be undone.
pub(crate) async fn try_write_audit(
    state: &State,
    business: BusinessId,
    author: &Author,
    event: &AuditEvent,
) {
    let database = &state.unit.database;
    let written: Result<(), StoreError> =
        database.read(async |conn| write_audit(conn, state, business, author, event).await).await;
    if let Err(error) = written {
        tracing::warn!(%error, business_id = %business, action = %event.action, "audit log entry lost");
    }
}
