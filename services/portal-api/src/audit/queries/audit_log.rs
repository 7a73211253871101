//! The audit log of a business.

use domain::{AuditEntryId, BusinessId};
use postgres::StoreError;

use crate::audit::domain::{AuditEntry, AuditFilter};
use crate::state::State;
use crate::store::audit_log;

/// Newest first. See [`audit_log::list`].
pub(crate) async fn list(
    state: &State,
    business: BusinessId,
    filter: &AuditFilter,
    limit: usize,
    after: Option<AuditEntryId>,
) -> Result<Option<Vec<AuditEntry>>, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| audit_log::list(conn, business, filter, limit, after).await).await
}
