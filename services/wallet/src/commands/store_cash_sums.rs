//! Stores the sums of cash by month again where cash has changed.

use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::state::State;
use crate::store::cash_months::{Part, store_next};

pub(crate) async fn store_cash_sums(state: &State, stop: &CancellationToken) -> Result<(), StoreError> {
    let mut last = Part::default();
    while !stop.is_cancelled() {
        let next = state.unit.database.transaction(async |conn| store_next(conn, &last).await).await?;
        let Some(next) = next else { return Ok(()) };
        last = next;
    }
    Ok(())
}
