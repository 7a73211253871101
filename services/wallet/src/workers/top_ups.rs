//! Asks the provider about pending top-ups.

use std::sync::Arc;
use std::time::Duration;

use postgres::StoreError;

use crate::commands::check_pending_top_ups;
use crate::state::State;

pub(crate) const TOP_UPS_INTERVAL: Duration = Duration::from_secs(4);

pub(crate) async fn check_pending_top_ups(state: Arc<State>) -> Result<(), StoreError> {
    check_pending_top_ups::check_pending_top_ups(&state).await
}
