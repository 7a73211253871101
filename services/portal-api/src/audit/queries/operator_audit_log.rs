//! The operator's audit log.

use std::collections::HashMap;

use domain::AuditEntryId;
use postgres::StoreError;

use crate::audit::domain::{AuditEntry, OperatorEntry, OperatorFilter};
use crate::state::State;
use crate::store::operator_audit_log;

/// Newest first. See [`operator_audit_log::list`].
pub(crate) async fn list(
    state: &State,
    filter: &OperatorFilter,
    limit: usize,
    after: Option<AuditEntryId>,
) -> Result<Option<Vec<OperatorEntry>>, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| operator_audit_log::list(conn, filter, limit, after).await).await
}

/// Who of the operator wrote these entries of a business's log, by request.
pub(crate) async fn actors(
    state: &State,
    entries: &[AuditEntry],
) -> Result<HashMap<String, String>, StoreError> {
    let of_operator = entries.iter().filter(|entry| entry.actor_type == "operator");
    let requests: Vec<String> = of_operator.filter_map(|entry| entry.request_id.clone()).collect();
    state.unit.database.read(async |conn| operator_audit_log::actors_of(conn, &requests).await).await
}
