//! Stores the sums of cash by month.

use std::sync::Arc;
use std::time::Duration;

use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::commands::store_cash_sums;
use crate::state::State;

/// Until then, what has changed is read from the cash itself.
pub(crate) const CASH_SUMS_INTERVAL: Duration = Duration::from_secs(60);

pub(crate) async fn store_cash_sums(state: Arc<State>, stop: CancellationToken) -> Result<(), StoreError> {
    store_cash_sums::store_cash_sums(&state, &stop).await
}
