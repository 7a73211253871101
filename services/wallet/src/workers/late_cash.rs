//! Publishes how much cash the operator has not settled by the promised day.

use std::sync::Arc;
use std::time::Duration;

use metrics::gauge;
use postgres::StoreError;

use crate::queries;
use crate::state::State;

pub(crate) const LATE_CASH_INTERVAL: Duration = Duration::from_secs(60);

#[expect(clippy::cast_precision_loss, reason = "a gauge; exact up to 2^53")]
pub(crate) async fn publish_late_cash(state: Arc<State>) -> Result<(), StoreError> {
    let (orders, paise) = queries::cash::late_of_all(&state).await?;
    gauge!("wallet_cash_late_orders").set(orders as f64);
    gauge!("wallet_cash_late_paise").set(paise.get() as f64);
    Ok(())
}
