//! Erases the orders of businesses that requested it, in batches. Each batch commits with its progress, so an
//! interrupted erasure continues where it stopped.

use std::time::Duration;

use diesel_async::AsyncPgConnection;
use domain::BusinessId;
use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use super::erase_personal_data::{Cause, count, erase_next};
use crate::domain::BusinessErasure;
use crate::state::State;
use crate::store::business_erasures;

/// Between batches, to limit the load on the database.
pub(super) const PAUSE: Duration = Duration::from_millis(20);

/// Requests the erasure of a business's completed orders, or of `everything`. Returns the running erasure if there is one.
pub async fn request_erasure(
    state: &State,
    business: BusinessId,
    everything: bool,
) -> Result<BusinessErasure, StoreError> {
    let new = BusinessErasure { everything, ..BusinessErasure::new(business, state.unit.clock.now()) };
    let begin = async |conn: &mut _| business_erasures::begin(conn, new).await;
    state.unit.database.transaction(begin).await
}

/// Processes all open requests.
pub async fn process_requests(state: &State, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let batch = async |conn: &mut AsyncPgConnection| -> Result<_, StoreError> {
            let Some(erasure) = business_erasures::lock_next(conn).await? else { return Ok(None) };
            let progress = erase_next(&state.unit, conn, erasure).await?;
            business_erasures::save(conn, &progress).await?;
            Ok(Some((progress, progress.erased - erasure.erased)))
        };
        let Some((progress, newly)) = state.unit.transaction(batch).await? else { return Ok(()) };
        count(Cause::Request, newly);
        if progress.completed_at.is_some() {
            let BusinessErasure { business_id, erased, not_completed, .. } = progress;
            tracing::info!(%business_id, erased, not_completed, "erased the personal data of a business");
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
