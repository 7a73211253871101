//! The operator's staff.

use domain::StaffId;
use identity::LinkToken;
use postgres::StoreError;

use crate::console::domain::Staff;
use crate::state::State;
use crate::store::staff;

/// Oldest first. See [`staff::list`].
pub(crate) async fn list(
    state: &State,
    limit: usize,
    after: Option<StaffId>,
) -> Result<Option<Vec<Staff>>, StoreError> {
    state.unit.database.read(async |conn| staff::list(conn, limit, after).await).await
}

/// The person whose password the link sets.
pub(crate) async fn of_link(state: &State, token: &LinkToken) -> Result<Option<Staff>, StoreError> {
    let now = state.unit.clock.now();
    state.unit.database.read(async |conn| staff::of_link(conn, token, now).await).await
}
