//! Checks whether the sessions of open streams have ended.

use std::sync::Arc;
use std::time::Duration;

use postgres::StoreError;
use tokio::time::Instant;

use crate::account::queries::sessions::still_open;
use crate::state::State;

pub(crate) const INTERVAL: Duration = Duration::from_secs(1);
/// Sessions per query.
const BATCH_MAX: usize = 500;

/// One round. While the database does not answer, all sessions count as open.
pub(crate) async fn check_sessions(state: Arc<State>) -> Result<(), StoreError> {
    let mut outcome = Ok(());
    for batch in state.session_monitor.due(Instant::now()).chunks(BATCH_MAX) {
        let open = still_open(&state, batch).await.unwrap_or_else(|error| {
            outcome = Err(error);
            batch.iter().map(|(_, session)| *session).collect()
        });
        state.session_monitor.report(batch, &open, Instant::now());
    }
    outcome
}
