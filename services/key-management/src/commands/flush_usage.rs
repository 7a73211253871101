//! Writes the buffered usage times.

use postgres::StoreError;

use crate::state::State;
use crate::store;

/// Keys per statement.
const BATCH_MAX: usize = 500;

/// # Errors
/// When the database is unavailable. Unwritten times stay in the buffer.
pub(crate) async fn flush_usage(state: &State) -> Result<(), StoreError> {
    let uses = state.usage.take();
    for (index, batch) in uses.chunks(BATCH_MAX).enumerate() {
        let written =
            state.unit.database.transaction(async |conn| store::record_usage(conn, batch).await).await;
        if let Err(error) = written {
            state.usage.put_back(&uses[index * BATCH_MAX..]);
            return Err(error);
        }
    }
    Ok(())
}
