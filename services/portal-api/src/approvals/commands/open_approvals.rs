//! The requests about a business that wait for a second person, or for their outcome.

use domain::BusinessId;
use postgres::StoreError;
use strum::VariantArray;

use crate::approvals::domain::{ApprovalFilter, ApprovalKind, ApprovalState};
use crate::approvals::store::approvals;
use crate::state::State;

/// Those of each state that are counted.
const COUNTED: usize = 20;

/// Their number.
pub(crate) async fn open_approvals(state: &State, business: BusinessId) -> Result<usize, StoreError> {
    let (now, database) = (state.unit.clock.now(), &state.unit.database);
    let mut found = 0;
    for waits in [ApprovalState::Pending, ApprovalState::Approved] {
        let kinds = ApprovalKind::VARIANTS.to_vec();
        let filter = ApprovalFilter { state: Some(waits), business: Some(business), kinds };
        let listed: Result<_, StoreError> =
            database.read(async |conn| approvals::list(conn, &filter, COUNTED, None, now).await).await;
        found += listed?.map_or(0, |listed| listed.len());
    }
    Ok(found)
}
