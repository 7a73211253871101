//! Requests of the operator for the approval of a second person.

use domain::ApprovalId;
use postgres::StoreError;

use crate::approvals::domain::{Approval, ApprovalFilter, ProtectedAction};
use crate::approvals::store::approvals;
use crate::state::State;
use crate::store::users;

/// Newest first. See [`approvals::list`].
pub(crate) async fn list(
    state: &State,
    filter: &ApprovalFilter,
    limit: usize,
    after: Option<ApprovalId>,
) -> Result<Option<Vec<Approval>>, StoreError> {
    let now = state.unit.clock.now();
    state.unit.database.read(async |conn| approvals::list(conn, filter, limit, after, now).await).await
}

/// A request, and the e-mail address of the user whose password a link would reset.
pub(crate) async fn find(
    state: &State,
    id: ApprovalId,
) -> Result<Option<(Approval, Option<String>)>, StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let Some(found) = approvals::find(conn, id).await? else { return Ok(None) };
            let (ProtectedAction::IssueResetLink { user_id }, Some(business)) =
                (&found.action, found.business)
            else {
                return Ok(Some((found, None)));
            };
            let user = users::find(conn, business, *user_id).await?;
            Ok(Some((found, user.map(|user| user.email))))
        })
        .await
}
