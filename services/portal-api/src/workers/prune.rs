//! Deletes old rows.

use std::sync::Arc;
use std::time::Duration;

use postgres::StoreError;

use crate::commands;
use crate::state::State;

pub(crate) const INTERVAL: Duration = Duration::from_secs(60);

/// One round.
pub(crate) async fn prune(state: Arc<State>) -> Result<(), StoreError> {
    commands::prune::prune(&state).await
}
